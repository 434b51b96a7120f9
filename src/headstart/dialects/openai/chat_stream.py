"""A chat completion as a stream of chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from headstart.dialects.openai.deltas import CallArguments, CallStart, Delta, Finish, TextDelta
from headstart.dialects.openai.logprobs import TokenLogprob, chat_logprobs
from headstart.dialects.openai.sse import frame
from headstart.dialects.openai.usage import Usage


@dataclass(slots=True)
class ChatStream:
    """Renders the frames of one response: role first, finish reason last, then the usage."""

    response_id: str
    created: int
    model: str
    include_usage: bool
    with_logprobs: bool
    _opened: set[int] = field(default_factory=set)

    def frames(
        self, index: int, deltas: Sequence[Delta], logprobs: Sequence[TokenLogprob] = ()
    ) -> Iterator[bytes]:
        """The next piece of choice `index`. Logprobs ride on the first frame that has room."""
        if index not in self._opened:
            self._opened.add(index)
            yield self._chunk(index, {"role": "assistant", "content": "", "refusal": None})
        bodies = [(_body(delta), _reason(delta)) for delta in deltas]
        if logprobs and (not bodies or bodies[0][1] is not None):
            bodies.insert(0, ({"content": ""}, None))
        for body, reason in bodies:
            yield self._chunk(index, body, reason, logprobs)
            logprobs = ()

    def usage(self, usage: Usage) -> Iterator[bytes]:
        """The last chunk, which has no choices; nothing unless the client asked for it."""
        if self.include_usage:
            yield frame({**self._head(), "choices": [], "usage": usage.render()})

    def _chunk(
        self,
        index: int,
        delta: dict[str, Any],
        reason: str | None = None,
        logprobs: Sequence[TokenLogprob] = (),
    ) -> bytes:
        choice = {
            "index": index,
            "delta": delta,
            "logprobs": chat_logprobs(logprobs) if self.with_logprobs and logprobs else None,
            "finish_reason": reason,
        }
        chunk = {**self._head(), "choices": [choice]}
        if self.include_usage:
            chunk["usage"] = None
        return frame(chunk)

    def _head(self) -> dict[str, Any]:
        return {
            "id": self.response_id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
        }


def _body(delta: Delta) -> dict[str, Any]:
    match delta:
        case TextDelta(text):
            return {"content": text}
        case CallStart(position, call_id, name):
            function = {"name": name, "arguments": ""}
            call = {"index": position, "id": call_id, "type": "function", "function": function}
            return {"tool_calls": [call]}
        case CallArguments(position, text):
            return {"tool_calls": [{"index": position, "function": {"arguments": text}}]}
        case Finish():
            return {}


def _reason(delta: Delta) -> str | None:
    return delta.reason if isinstance(delta, Finish) else None
