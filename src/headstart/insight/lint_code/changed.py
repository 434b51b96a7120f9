"""Lines that differ from a git ref."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from headstart.insight.findings.finding import Finding

_HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_FILE = re.compile(r'\+\+\+ "?b/(.*?)"?\t?$')


class GitError(ValueError):
    """git could not say. `str()` is one line for people."""


def changed_lines(ref: str, directory: Path) -> Mapping[Path, frozenset[int] | None]:
    """By absolute path; None is a file that git doesn't know yet: all of it is new.

    `ref` is compared at the point where the current branch left it. Raises GitError."""
    root = Path(_git(directory, "rev-parse", "--show-toplevel").rstrip("\n"))
    base = _git(root, "merge-base", "--end-of-options", ref, "HEAD").strip()
    plain = ("-c", "core.quotePath=false", "diff", "--no-color", "--no-ext-diff", "--unified=0")
    lines: dict[Path, frozenset[int] | None] = {}
    current: Path | None = None
    for line in _git(root, *plain, base).splitlines():
        if found := _FILE.match(line):
            current = root / found[1]
        elif current is not None and (hunk := _HUNK.match(line)):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            before = lines.get(current) or frozenset()
            lines[current] = before | frozenset(range(first, first + count))
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
    lines.update((root / name, None) for name in new if name)
    return lines


def touches(finding: Finding, lines: Mapping[Path, frozenset[int] | None]) -> bool:
    """Whether a changed line is on the finding's way."""
    for place in (finding.where, *(step.where for step in finding.steps)):
        path = Path(place.path).resolve()
        if path in lines:
            changed = lines[path]
            if changed is None or place.line in changed:
                return True
    return False


def _git(directory: Path, *args: str) -> str:
    command: Sequence[str] = ("git", "-C", str(directory), *args)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise GitError(f"git can't be run: {error.strerror}") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise GitError(said[-1] if said else f"git {args[0]} ended with {done.returncode}")
    return done.stdout
