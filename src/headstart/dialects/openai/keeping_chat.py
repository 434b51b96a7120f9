"""Chat completions that somebody wants whole, however they are sent."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headstart.dialects.deltas import Delta
from headstart.dialects.dialect import Head
from headstart.dialects.errors import ApiError
from headstart.dialects.gathered import Gathered
from headstart.dialects.logprobs import TokenLogprob
from headstart.dialects.openai.chat import OpenAIChat
from headstart.dialects.openai.chat_stream import ChatStream
from headstart.ledger.account import Account

Keep = Callable[[Mapping[str, Any]], None]
"""Called with a completion that is whole, before its end is sent."""


@dataclass(frozen=True, slots=True)
class KeepingChat:
    """Renders as `chat` does, and hands on what the answer is as a whole."""

    chat: OpenAIChat
    keep: Keep

    def whole(self, head: Head, choices: Sequence[Gathered], account: Account) -> dict[str, Any]:
        """A `chat.completion`."""
        body = self.chat.whole(head, choices, account)
        self.keep(body)
        return body

    def stream(self, head: Head) -> "KeepingStream":
        """`chat.completion.chunk`s."""
        choices = [Gathered(index) for index in range(head.asked.n)]
        return KeepingStream(self, head, self.chat.stream(head), choices)


@dataclass(frozen=True, slots=True)
class KeepingStream:
    """A stream that is gathered on the way."""

    renderer: KeepingChat
    head: Head
    inner: ChatStream
    choices: Sequence[Gathered]

    def begin(self, account: Account) -> Iterator[bytes]:
        """The first token is there."""
        return self.inner.begin(account)

    def frames(
        self, index: int, deltas: Sequence[Delta], logprobs: Sequence[TokenLogprob] = ()
    ) -> Iterator[bytes]:
        """The next piece of choice `index`."""
        self.choices[index].add(deltas, logprobs)
        return self.inner.frames(index, deltas, logprobs)

    def end(self, account: Account) -> Iterator[bytes]:
        """It is kept before the client can know that it is whole."""
        self.renderer.whole(self.head, self.choices, account)
        return self.inner.end(account)

    def fail(self, error: ApiError) -> bytes:
        """Half an answer is not kept."""
        return self.inner.fail(error)
