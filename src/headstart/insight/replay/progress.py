"""A bar on stderr with an estimate of the time left; nothing where stderr is no terminal."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from headstart.insight.replay.lines import Moved, nobody


class Bar:
    """A context manager, and what `study` tells its progress to."""

    def __init__(self, size: int) -> None:
        """`size`: bytes of all files."""
        console = Console(stderr=True)
        self._size = size
        self._shown = console.is_terminal
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not self._shown,
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def begins(self, what: str) -> Moved:
        """A pass over the files begins."""
        if not self._shown:
            return nobody
        task = self._bar.add_task(what, total=self._size)
        return lambda moved: self._bar.advance(task, moved)
