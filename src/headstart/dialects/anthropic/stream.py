"""A message as a stream of events."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from headstart.dialects.anthropic.conversation import CALL_PREFIX
from headstart.dialects.anthropic.errors import envelope
from headstart.dialects.anthropic.ids import request_of
from headstart.dialects.anthropic.response import ended, open_message
from headstart.dialects.anthropic.usage import render_delta_usage
from headstart.dialects.deltas import CallArguments, CallStart, Delta, Finish, TextDelta
from headstart.dialects.dialect import Head
from headstart.dialects.errors import ApiError
from headstart.dialects.logprobs import TokenLogprob
from headstart.ledger.account import Account


def event(value: Mapping[str, Any]) -> bytes:
    """One event. Anthropic's clients drop frames that have no `event:` line."""
    name = str(value["type"]).encode()
    return b"event: " + name + b"\ndata: " + msgspec.json.encode(value) + b"\n\n"


class MessageStream:
    """Renders the events of one message: its start, block after block, its delta, its stop."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self._blocks = 0
        self._open: str | None = None
        """The type of the block that goes on."""
        self._finish = Finish("stop")

    def begin(self, account: Account) -> Iterator[bytes]:
        """The message without content; its usage has the final cache counters already."""
        yield event({"type": "message_start", "message": open_message(self._head, account)})

    def frames(
        self, _: int, deltas: Sequence[Delta], __: Sequence[TokenLogprob] = ()
    ) -> Iterator[bytes]:
        """The next piece of the message."""
        for delta in deltas:
            match delta:
                case TextDelta(text):
                    if self._open != "text":
                        yield from self._start({"type": "text", "text": ""})
                    yield self._delta({"type": "text_delta", "text": text})
                case CallStart(_, call_id, name):
                    block = {"type": "tool_use", "id": f"{CALL_PREFIX}{call_id}", "name": name}
                    yield from self._start({**block, "input": {}})
                case CallArguments(_, text):
                    yield self._delta({"type": "input_json_delta", "partial_json": text})
                case Finish():
                    self._finish = delta

    def end(self, account: Account) -> Iterator[bytes]:
        """Why it ended, the usage once more, and the last word."""
        yield from self._stop()
        yield event(
            {
                "type": "message_delta",
                "delta": ended(self._head, self._finish, account),
                "usage": render_delta_usage(account),
            }
        )
        yield event({"type": "message_stop"})

    def fail(self, error: ApiError) -> bytes:
        """The envelope, after which nothing comes."""
        return event(envelope(error, request_of(self._head.id)))

    def _start(self, block: dict[str, Any]) -> Iterator[bytes]:
        yield from self._stop()
        self._open = block["type"]
        yield event({"type": "content_block_start", "index": self._blocks, "content_block": block})

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return event({"type": "content_block_delta", "index": self._blocks, "delta": delta})

    def _stop(self) -> Iterator[bytes]:
        if self._open is not None:
            yield event({"type": "content_block_stop", "index": self._blocks})
            self._blocks += 1
            self._open = None
