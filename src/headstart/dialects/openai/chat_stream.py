"""A chat completion as a stream of chunks."""

from collections.abc import Iterator, Sequence
from typing import Any

from headstart.dialects.deltas import CallArguments, CallStart, Delta, Finish, TextDelta
from headstart.dialects.dialect import Head
from headstart.dialects.errors import ApiError
from headstart.dialects.logprobs import TokenLogprob
from headstart.dialects.openai.errors import envelope
from headstart.dialects.openai.logprobs import chat_logprobs
from headstart.dialects.openai.prompt_settings import TIER
from headstart.dialects.openai.sse import DONE, frame
from headstart.dialects.openai.usage import RenderUsage, render_usage
from headstart.ledger.account import Account


class ChatStream:
    """Renders the frames of one response: role first, finish reason last, then the usage."""

    def __init__(self, head: Head, usage: RenderUsage = render_usage) -> None:
        asked = head.asked
        self._usage = usage
        self._head = {
            "id": head.id,
            "object": "chat.completion.chunk",
            "created": int(head.created),
            "model": asked.model,
            "service_tier": TIER,
            "system_fingerprint": None,
        }
        self._include_usage = asked.include_usage
        self._with_logprobs = asked.sampling.logprobs is not None
        self._opened: set[int] = set()

    def begin(self, _: Account) -> Iterator[bytes]:
        """Nothing: the account comes last."""
        return iter(())

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

    def end(self, account: Account) -> Iterator[bytes]:
        """The usage, if the client asked for it, in a chunk without choices; then the last word."""
        if self._include_usage:
            yield frame({**self._head, "choices": [], "usage": self._usage(account)})
        yield DONE

    def fail(self, error: ApiError) -> bytes:
        """The envelope as a frame, and no `[DONE]`."""
        return frame(envelope(error))

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
            "logprobs": chat_logprobs(logprobs) if self._with_logprobs and logprobs else None,
            "finish_reason": reason,
        }
        chunk = {**self._head, "choices": [choice]}
        if self._include_usage:
            chunk["usage"] = None
        return frame(chunk)


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
