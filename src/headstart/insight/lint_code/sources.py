"""Which files are judged, and as what."""

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePath

from headstart.insight.lint_code.jinja.prompts import ENDINGS

PYTHON = frozenset({".py", ".pyi"})
JAVASCRIPT = frozenset({".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"})
SUFFIXES = PYTHON | JAVASCRIPT | ENDINGS

EXCLUDED = (
    ".*", "node_modules", "__pycache__", "venv", "env", "site-packages", "dist", "build", "vendor",
    "target", "*.egg-info", "*.min.js", "*.d.ts",
)  # fmt: skip
"""Names of files and directories that a walk leaves out."""


def walk(sources: Sequence[Path], exclude: Sequence[str]) -> Iterator[Path]:
    """Files as they are named, and those of directories that may be source, sorted.

    `exclude` has patterns of names or of paths; what git ignores is left out as well."""
    for source in sources:
        if not source.is_dir():
            yield source
            continue
        ignored = _ignored_by_git(source)
        for directory, names, files in os.walk(source):
            here = Path(directory)
            names[:] = sorted(
                name
                for name in names
                if not _out(here / name, exclude) and f"{here / name}{os.sep}" not in ignored
            )
            for name in sorted(files):
                path = here / name
                known = path.suffix in SUFFIXES and not _out(path, exclude)
                if known and str(path) not in ignored:
                    yield path


def unique(paths: Iterable[Path]) -> list[Path]:
    """Each file once, in order."""
    return list({path.resolve() if path.exists() else path: path for path in paths}.values())


def _out(path: Path, exclude: Sequence[str]) -> bool:
    if any(fnmatch(path.name, pattern) for pattern in EXCLUDED):
        return True
    pure = PurePath(path).as_posix()
    return any(
        fnmatch(path.name, pattern.rstrip("/"))
        or fnmatch(pure, pattern.rstrip("/"))
        or fnmatch(pure, f"*/{pattern.rstrip('/')}")
        for pattern in exclude
    )


def _ignored_by_git(directory: Path) -> frozenset[str]:
    """Nothing where git isn't there, or the directory is in no repository."""
    command = ["git", "-C", str(directory), "ls-files", "--others", "--ignored",
               "--exclude-standard", "--directory", "-z"]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return frozenset()
    names = (name for name in done.stdout.split("\0") if name)
    return frozenset(
        f"{directory / name}{os.sep}" if name.endswith("/") else str(directory / name)
        for name in names
    )
