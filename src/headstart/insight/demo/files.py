"""The sample files, so that every command can be tried on them."""

import json
from pathlib import Path

from headstart.insight.demo.traffic import APPS, CODE


def write(directory: Path) -> list[Path]:
    """A log for each application, two requests alone, and a source file. Raises OSError."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for app in APPS.values():
        lines = [json.dumps(sent.line(), ensure_ascii=False) for sent in app.sent()]
        written.append(_put(directory / f"{app.name}.jsonl", "\n".join(lines) + "\n"))
    for name, sent in zip(("request", "next"), APPS["support"].sent(), strict=False):
        written.append(_put(directory / f"{name}.json", json.dumps(sent.body, indent=2) + "\n"))
    written.append(_put(directory / "agent.py", CODE))
    return written


def _put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
