"""Whether ids name prefixes, and the same ones in all files of a recording."""

from collections.abc import Iterable
from pathlib import Path

from headstart.insight.replay.lines import TraceError

ROOT = -1
MOST_BLOCKS = 4096
"""That are looked at in each file: recordings that count their blocks from 0 differ at once."""


class Meaning:
    """Remembers which block each one stood behind, as far as files begin."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[int, Path]] = {}
        self._seen: dict[Path, int] = {}

    def check(self, path: Path, number: int, blocks: Iterable[int]) -> None:
        """The ids of line `number`. Raises TraceError."""
        seen = self._seen.get(path, 0)
        if seen >= MOST_BLOCKS:
            return
        parent = ROOT
        for block in blocks:
            known, where = self._before.setdefault(block, (parent, path))
            if known != parent:
                raise TraceError(self._two_meanings(path, number, block, where))
            parent = block
            seen += 1
        self._seen[path] = seen

    @staticmethod
    def _two_meanings(path: Path, number: int, block: int, other: Path) -> str:
        if path == other:
            return f"{path.name}:{number}: block {block} stood behind another one before: no prefix"
        return (
            f"{path.name}:{number}: block {block} is another one than in {other.name}: these are"
            " two recordings, to be replayed one by one"
        )
