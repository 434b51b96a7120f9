"""How often the cache was reset, written beside the chunks: a restart must not undo a reset."""

import os
from contextlib import suppress
from pathlib import Path

_FILE = "generation"
_END = 2**63
"""Keys hold a generation in eight bytes, signed."""


def read_generation(root: Path, fresh: int) -> int:
    """The number in `root`, 0 where there is none.

    Where it can't be read it becomes `fresh`, a number that was never one: rather forget what is
    there than bring back what was reset.
    """
    try:
        generation = int((root / _FILE).read_text())
        if 0 <= generation < _END:
            return generation
    except FileNotFoundError:
        return 0
    except (OSError, ValueError):
        pass
    with suppress(OSError):
        write_generation(root, fresh)
    return fresh


def write_generation(root: Path, generation: int) -> None:
    """Replace the number in `root`. Raises OSError."""
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    temp = root / f".{_FILE}.{os.getpid()}"
    temp.write_text(f"{generation}\n")
    temp.replace(root / _FILE)
