"""`python -m tests.insight.labelled OUT [SEED]`: the set as files, for people to look at.

`OUT/KIND/DIALECT/….jsonl` has a request on each line; `OUT/labels.jsonl` says what each is.
"""

import json
import sys
from pathlib import Path

from tests.insight.labelled.build import cases, logs


def write_all(out: Path, seed: int) -> int:
    """How many files were written beside the labels."""
    labels = []
    for each in [*cases(seed), *logs(seed)]:
        path = out / each.kind / f"{each.name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in each.lines())
        path.write_text("".join(lines), encoding="utf-8")
        label = {"file": str(path.relative_to(out))} | each.label()
        labels.append(json.dumps(label, ensure_ascii=False) + "\n")
    (out / "labels.jsonl").write_text("".join(labels), encoding="utf-8")
    return len(labels)


if __name__ == "__main__":
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(write_all(Path(sys.argv[1]), number), "files")
