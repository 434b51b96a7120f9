"""How often the cache was reset, written beside the chunks: a restart must not undo a reset."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from headstart.stores.errors import StoreError, Unavailable

_FILE = "generation"
_END = 2**63
"""Keys hold a generation in eight bytes, signed."""


class Generation(Protocol):
    """The number of the last reset that a place knows of. Called from one thread at a time."""

    def read_generation(self, fresh: int, *, deadline: float) -> int:
        """The number there.

        Where it is damaged, or may have been lost, it becomes `fresh`: rather forget what is there
        than bring back what was reset. Raises StoreError where the place can't be asked.
        """
        ...

    def write_generation(self, generation: int, *, deadline: float) -> None:
        """Replace the number, unless a later one is there. Raises StoreError.

        Of two that are written at once either may stay.
        """
        ...

    def close(self) -> None:
        """Let go of sockets."""
        ...


class FileGeneration:
    """In a folder of chunks; 0 where there is no number yet: files don't vanish by themselves."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read_generation(self, fresh: int, *, deadline: float) -> int:  # noqa: ARG002 (files know none)
        """See Generation."""
        try:
            return parse_generation((self._root / _FILE).read_bytes())
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise Unavailable(str(error)) from error
        except ValueError:
            with suppress(StoreError):
                self._replace(fresh)
            return fresh

    def write_generation(self, generation: int, *, deadline: float) -> None:
        """See Generation."""
        if self.read_generation(0, deadline=deadline) < generation:
            self._replace(generation)

    def close(self) -> None:
        """See Generation."""

    def _replace(self, generation: int) -> None:
        temp = self._root / f".{_FILE}.{os.getpid()}"
        try:
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            temp.write_text(f"{generation}\n")
            temp.replace(self._root / _FILE)
        except OSError as error:
            raise Unavailable(str(error)) from error


def parse_generation(text: bytes) -> int:
    """The number that `text` says. Raises ValueError."""
    if len(text) < 32 and 0 <= (generation := int(text)) < _END:
        return generation
    raise ValueError("not a generation")
