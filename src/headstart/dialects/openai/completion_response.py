"""Text completions, whole and as a stream."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from headstart.dialects.errors import ApiError
from headstart.dialects.logprobs import TokenLogprob
from headstart.dialects.openai.errors import envelope
from headstart.dialects.openai.logprobs import LegacyLogprobs
from headstart.dialects.openai.sse import DONE, frame
from headstart.dialects.openai.usage import render_usage
from headstart.ledger.account import Account


@dataclass(slots=True)
class CompletionChoice:
    """Gathers one choice of a text completion."""

    index: int
    with_logprobs: bool
    _text: list[str] = field(default_factory=list)
    _logprobs: list[TokenLogprob] = field(default_factory=list)
    _reason: str = "stop"

    def add(self, text: str, logprobs: Sequence[TokenLogprob], reason: str | None) -> None:
        """Take the next piece of the choice."""
        self._text.append(text)
        self._logprobs.extend(logprobs)
        if reason is not None:
            self._reason = reason

    def render(self) -> dict[str, Any]:
        """One element of `choices`."""
        return {
            "index": self.index,
            "text": "".join(self._text),
            "logprobs": LegacyLogprobs().render(self._logprobs) if self.with_logprobs else None,
            "finish_reason": self._reason,
        }


def completion_response(
    response_id: str,
    created: int,
    model: str,
    choices: Sequence[CompletionChoice],
    account: Account,
) -> dict[str, Any]:
    """The body of `POST /v1/completions`. `created` is in seconds since the epoch."""
    return {
        "id": response_id,
        "object": "text_completion",
        "created": created,
        "model": model,
        "choices": [choice.render() for choice in choices],
        **told(account),
    }


def told(account: Account) -> dict[str, Any]:
    """What the body tells of the account."""
    return {"usage": render_usage(account)}


@dataclass(slots=True)
class CompletionStream:
    """Renders the frames of one streamed text completion."""

    response_id: str
    created: int
    model: str
    include_usage: bool
    with_logprobs: bool
    _logprobs: dict[int, LegacyLogprobs] = field(default_factory=dict)

    def frames(
        self, index: int, text: str, logprobs: Sequence[TokenLogprob], reason: str | None
    ) -> Iterator[bytes]:
        """The next piece of choice `index`; nothing where there is nothing to say."""
        if not (text or logprobs or reason):
            return
        rendered = None
        if self.with_logprobs:
            rendered = self._logprobs.setdefault(index, LegacyLogprobs()).render(logprobs)
        choice = {"index": index, "text": text, "logprobs": rendered, "finish_reason": reason}
        chunk = {**self._head(), "choices": [choice]}
        if self.include_usage:
            chunk["usage"] = None
        yield frame(chunk)

    def end(self, account: Account) -> Iterator[bytes]:
        """The usage, if the client asked for it, in a chunk without choices; then the last word."""
        if self.include_usage:
            yield frame({**self._head(), "choices": [], "usage": render_usage(account)})
        yield DONE

    def fail(self, error: ApiError) -> bytes:
        """The envelope as a frame, and no `[DONE]`."""
        return frame(envelope(error))

    def _head(self) -> dict[str, Any]:
        return {
            "id": self.response_id,
            "object": "text_completion",
            "created": self.created,
            "model": self.model,
        }
