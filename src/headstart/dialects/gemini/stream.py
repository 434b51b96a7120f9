"""An answer as a stream of `GenerateContentResponse`s."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from headstart.dialects.deltas import CallArguments, CallStart, Delta, Finish, TextDelta
from headstart.dialects.dialect import Head
from headstart.dialects.errors import ApiError
from headstart.dialects.gathered import GatheredCall
from headstart.dialects.gemini.answer import response
from headstart.dialects.gemini.candidate import call_part, candidate
from headstart.dialects.gemini.errors import GeminiManners
from headstart.dialects.gemini.frames import Frames
from headstart.dialects.logprobs import TokenLogprob
from headstart.ledger.account import Account


@dataclass(slots=True)
class _Candidate:
    """What of a candidate isn't sent yet. Calls go out whole."""

    parts: list[dict[str, Any]] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish: Finish | None = None
    malformed: bool = False
    _call: GatheredCall | None = None

    def take(self, deltas: Sequence[Delta], logprobs: Sequence[TokenLogprob]) -> None:
        self.logprobs.extend(logprobs)
        for delta in deltas:
            match delta:
                case TextDelta(text):
                    self.parts.append({"text": text})
                case CallStart(_, call_id, name):
                    self._end_call()
                    self._call = GatheredCall(call_id, name)
                case CallArguments(_, text):
                    assert self._call is not None, "arguments follow their call's start"
                    self._call.arguments += text
                case Finish():
                    self._end_call()
                    self.finish = delta

    def give(self, index: int) -> dict[str, Any]:
        said = candidate(index, self.parts, self.finish, self.logprobs, malformed=self.malformed)
        self.parts, self.logprobs = [], []
        return said

    def _end_call(self) -> None:
        if self._call is not None:
            part = call_part(self._call)
            if part is None:
                self.malformed = True
            else:
                self.parts.append(part)
            self._call = None


class GeminiStream:
    """Renders the chunks of one answer; the last has every finish reason and the account."""

    def __init__(self, head: Head, frames: Frames) -> None:
        self._head = head
        self._frames = frames
        self._candidates = [_Candidate() for _ in range(head.asked.n)]

    def begin(self, _: Account) -> Iterator[bytes]:
        """Nothing: the account comes last."""
        return iter(())

    def frames(
        self, index: int, deltas: Sequence[Delta], logprobs: Sequence[TokenLogprob] = ()
    ) -> Iterator[bytes]:
        """The next piece of candidate `index`, unless it is the last or says nothing yet."""
        at = self._candidates[index]
        at.take(deltas, logprobs)
        if at.parts and at.finish is None:
            yield self._frames.next(_json(response(self._head, [at.give(index)])))

    def end(self, account: Account) -> Iterator[bytes]:
        """What is left of all candidates, and the account."""
        last = [each.give(index) for index, each in enumerate(self._candidates)]
        yield self._frames.next(_json(response(self._head, last, account))) + self._frames.end()

    def fail(self, error: ApiError) -> bytes:
        """The envelope in a chunk's place."""
        body = GeminiManners().failure(error, "").body
        return self._frames.next(_json(body)) + self._frames.end()


def _json(body: dict[str, Any]) -> bytes:
    return msgspec.json.encode(body)
