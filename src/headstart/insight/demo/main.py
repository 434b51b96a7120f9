"""Runs the tour on the sample files, in a directory of the user's or in one that goes away."""

import io
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from headstart.insight.demo.files import write
from headstart.insight.demo.steps import STEPS, Step
from headstart.insight.demo.traffic import APPS

FINE, IMPOSSIBLE = 0, 2
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Shown:
    """A step that was run."""

    step: Step
    said: str
    status: int


def main(directory: Path | None, form: Literal["text", "json"]) -> int:
    """The exit status. `directory`: where the sample files stay."""
    try:
        if directory is not None:
            return _tour(directory, form, kept=True)
        with tempfile.TemporaryDirectory(prefix="headstart-") as temporary:
            return _tour(Path(temporary), form, kept=False)
    except OSError as error:
        print(f"headstart demo: {error}", file=sys.stderr)
        return IMPOSSIBLE


def _tour(directory: Path, form: Literal["text", "json"], *, kept: bool) -> int:
    files = [path.name for path in write(directory)]
    with chdir(directory):
        shown = [_run(step) for step in STEPS]
    if form == "json":
        sys.stdout.write(_as_json(shown, files))
    else:
        print("\n".join(_as_text(shown, directory if kept else None)))
    return IMPOSSIBLE if any(each.status == IMPOSSIBLE for each in shown) else FINE


def _run(step: Step) -> Shown:
    said = io.StringIO()
    with redirect_stdout(said):
        status = step.run()
    return Shown(step, said.getvalue(), status)


def _as_text(shown: Sequence[Shown], kept: Path | None) -> Iterator[str]:
    yield "Made-up traffic, the same each time; no key, no model, no connection."
    for app in APPS.values():
        yield f"  {app.name + '.jsonl':<16}{app.about}"
    for number, each in enumerate(shown, 1):
        lines = each.said.rstrip("\n").split("\n")
        yield ""
        yield f"{number}. {each.step.title}"
        yield f"$ {each.step.line}"
        yield from (f"    {line}".rstrip() for line in lines[: each.step.most])
        if len(lines) > each.step.most:
            yield f"    … and {len(lines) - each.step.most} lines more"
    yield ""
    if kept is None:
        yield "To run these yourself: headstart demo --write samples && cd samples"
    else:
        yield f"The files are in {kept}: cd there, and type what stands behind each $."


def _as_json(shown: Sequence[Shown], files: Sequence[str]) -> str:
    said = {
        "schema_version": SCHEMA_VERSION,
        "files": files,
        "steps": [
            {
                "title": each.step.title,
                "command": each.step.line,
                "status": each.status,
                "output": each.said,
            }
            for each in shown
        ],
    }
    return json.dumps(said, ensure_ascii=False, indent=2) + "\n"
