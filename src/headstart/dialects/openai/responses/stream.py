"""A response as a stream of numbered events."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from headstart.dialects.deltas import Delta
from headstart.dialects.errors import ApiError
from headstart.dialects.logprobs import TokenLogprob
from headstart.dialects.openai.responses.output import Event, Output
from headstart.dialects.openai.responses.response import Story
from headstart.dialects.openai.sse import event
from headstart.ledger.account import Account


class ResponseStream:
    """Renders the events of one response; the last one has all of it, with the usage."""

    def __init__(self, story: Story, output: Output) -> None:
        self._story = story
        self._output = output
        self._number = 0

    def begin(self, _: Account) -> Iterator[bytes]:
        """It exists, and is under way."""
        for kind in ("response.created", "response.in_progress"):
            yield self._frame({"type": kind, "response": self._story.begun()})

    def frames(
        self, _: int, deltas: Sequence[Delta], logprobs: Sequence[TokenLogprob]
    ) -> Iterator[bytes]:
        """The next piece."""
        return self._frames(self._output.feed(deltas, logprobs))

    def end(self, account: Account) -> Iterator[bytes]:
        """`response.completed`, or `response.incomplete`."""
        body = self._story.ended(self._output, account)
        yield self._frame({"type": f"response.{body['status']}", "response": body})

    def fail(self, error: ApiError) -> bytes:
        """`response.failed`; what fails before the response begins is no stream."""
        body = self._story.failed(self._output, error)
        return self._frame({"type": "response.failed", "response": body})

    def _frames(self, events: Iterable[Event]) -> Iterator[bytes]:
        for each in events:
            yield self._frame(each)

    def _frame(self, told: dict[str, Any]) -> bytes:
        numbered = {**told, "sequence_number": self._number}
        self._number += 1
        return event(numbered)
