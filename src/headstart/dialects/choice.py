"""From one choice's text to its deltas: content, tool calls, the reason it ended."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b

from headstart.dialects.deltas import (
    CallArguments,
    CallStart,
    Delta,
    Finish,
    TextDelta,
)
from headstart.text import tool_events
from headstart.text.tool_events import ToolCallParser

_ALPHANUMERIC = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ID_LENGTH = 9


def call_id(response_id: str, choice: int, position: int) -> str:
    """The id of one call: 9 letters and digits, the only ids Mistral's chat templates take back."""
    digest = blake2b(f"{response_id}/{choice}/{position}".encode(), digest_size=8).digest()
    number = int.from_bytes(digest)
    digits = []
    for _ in range(_ID_LENGTH):
        number, digit = divmod(number, len(_ALPHANUMERIC))
        digits.append(_ALPHANUMERIC[digit])
    return "".join(digits)


class ChoiceAssembler:
    """A pure state machine, fed with text as it is generated.

    Blank text around calls is the format's layout and no content. Without `parallel` everything
    behind the first call is dropped.
    """

    def __init__(
        self,
        response_id: str,
        index: int,
        parser: ToolCallParser | None = None,
        *,
        parallel: bool = True,
    ) -> None:
        """`parser` reads tool calls; None takes all text as content."""
        self._response_id = response_id
        self._index = index
        self._parser = parser
        self._parallel = parallel
        self._calls = 0
        self._blank = ""

    def feed(self, text: str, finish_reason: str | None, stop: str | None = None) -> list[Delta]:
        """Take the next text; with a reason it was the last. `stop`: the string that ended it."""
        if self._parser is None:
            deltas: list[Delta] = [TextDelta(text)] if text else []
        else:
            events = self._parser.feed(text)
            if finish_reason is not None:
                events += self._parser.finish(cut=finish_reason == "length")
            deltas = list(self._translate(events))
        if finish_reason is not None:
            deltas += self._finish(finish_reason, stop)
        return deltas

    def _translate(self, events: Sequence[tool_events.Event]) -> Iterator[Delta]:
        for event in events:
            if self._dropping(event):
                return
            match event:
                case tool_events.Text(text):
                    self._blank += text
                    if not self._blank.isspace():
                        yield TextDelta(self._blank)
                        self._blank = ""
                case tool_events.CallStart(position, name):
                    self._calls += 1
                    self._blank = ""
                    yield CallStart(
                        position, call_id(self._response_id, self._index, position), name
                    )
                case tool_events.CallArguments(position, fragment):
                    yield CallArguments(position, fragment)

    def _dropping(self, event: tool_events.Event) -> bool:
        first_call_goes_on = isinstance(event, tool_events.CallArguments) and event.index == 0
        return not self._parallel and self._calls > 0 and not first_call_goes_on

    def _finish(self, reason: str, stop: str | None) -> Iterator[Delta]:
        if self._blank and not self._calls:
            yield TextDelta(self._blank)
        yield Finish("tool_calls" if self._calls and reason == "stop" else reason, stop)
