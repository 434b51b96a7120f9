"""The conversation at the terminal, or from a pipe: lines in, answers and accounts out."""

import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from headstart.insight.turn import ChatEndpoint, Message, Turn
from headstart.insight.wire import EndpointError

CONTROL = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
"""A model's output must not steer the terminal."""


def terminal_lines() -> Iterator[str]:
    """What the user types, line by line, until Ctrl-D; with line editing at a terminal."""
    at_terminal = sys.stdin.isatty()
    if at_terminal:
        import readline  # noqa: F401  (importing it gives input() its editing keys)
    while True:
        try:
            yield input("> " if at_terminal else "")
        except EOFError:
            return
        except KeyboardInterrupt:
            print("\n(Ctrl-D or /exit leaves)")


class Repl:
    """Holds the history. It only grows at its end, so each turn begins with what was computed."""

    def __init__(self, endpoint: ChatEndpoint, options: dict[str, Any], system: str | None) -> None:
        self._endpoint = endpoint
        self._options = options
        self._opening: list[Message] = [{"role": "system", "content": system}] if system else []
        self._history = list(self._opening)
        self._console = Console(highlight=False, soft_wrap=True)

    def run(self, lines: Iterator[str]) -> None:
        """Until the lines end or one says /exit."""
        self._note(f"{self._options['model']} · Ctrl-C stops an answer · /reset · /exit")
        for line in lines:
            asked = line.strip()
            if asked == "/exit":
                return
            if asked == "/reset":
                self._history = list(self._opening)
                self._note("started over")
            elif asked:
                self._turn(asked)

    def _turn(self, asked: str) -> None:
        messages = [*self._history, {"role": "user", "content": asked}]
        try:
            turn = self._endpoint.ask(self._options, messages, self._show)
        except KeyboardInterrupt:
            self._note("\ncancelled; this turn is forgotten")
        except EndpointError as error:
            self._console.print(Text(f"\n{error}", style="red"))
        else:
            self._finish(messages, turn)

    def _finish(self, messages: list[Message], turn: Turn) -> None:
        self._history = [*messages, {"role": "assistant", "content": turn.text}]
        self._console.print()
        self._note(turn.account())

    def _show(self, piece: str) -> None:
        self._console.print(Text(piece.translate(CONTROL)), end="")

    def _note(self, text: str) -> None:
        self._console.print(Text(text, style="dim"))
