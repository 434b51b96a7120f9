"""A progress bar on stderr; in a log, a line for each thing that begins."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class ProgressBar:
    """A context manager. Requests that are coming lengthen it, those that ended advance it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None)
        self._total = 0

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

    def say(self, text: str) -> None:
        """Show what begins."""
        self._bar.update(self._task, description=text)
        if not self._console.is_terminal:
            self._console.print(text, highlight=False, soft_wrap=True)

    def tell(self, text: str) -> None:
        """Print what has to stay."""
        self._bar.console.print(text, highlight=False, soft_wrap=True)

    def expect(self, requests: int) -> None:
        """Lengthen the bar."""
        self._total += requests
        self._bar.update(self._task, total=self._total)

    def advance(self, text: str) -> None:
        """A request has ended."""
        self._bar.update(self._task, advance=1, description=text)
