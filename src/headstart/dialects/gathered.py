"""One choice of an answer, whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from headstart.dialects.deltas import CallArguments, CallStart, Delta, Finish, TextDelta
from headstart.dialects.logprobs import TokenLogprob


@dataclass(slots=True)
class GatheredCall:
    """A tool call; `arguments` is JSON text as it was generated."""

    id: str
    name: str
    arguments: str = ""
    behind: int = 0
    """Characters of the choice's text before it."""


@dataclass(slots=True)
class Gathered:
    """Gathers a choice's deltas."""

    index: int = 0
    calls: list[GatheredCall] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish: Finish | None = None
    _text: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text outside the calls."""
        return "".join(self._text)

    def add(self, deltas: Sequence[Delta], logprobs: Sequence[TokenLogprob] = ()) -> None:
        """Take the next piece of the choice."""
        self.logprobs.extend(logprobs)
        for delta in deltas:
            match delta:
                case TextDelta(text):
                    self._text.append(text)
                case CallStart(_, call_id, name):
                    self.calls.append(GatheredCall(call_id, name, behind=len(self.text)))
                case CallArguments(position, text):
                    self.calls[position].arguments += text
                case Finish():
                    self.finish = delta
