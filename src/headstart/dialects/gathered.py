"""One choice of an answer, whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from headstart.dialects.deltas import CallArguments, CallStart, Delta, Finish, TextDelta
from headstart.dialects.logprobs import TokenLogprob


@dataclass(slots=True)
class GatheredText:
    """A run of text."""

    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces)


@dataclass(slots=True)
class GatheredCall:
    """A tool call; `arguments` is JSON text as it was generated."""

    id: str
    name: str
    arguments: str = ""


@dataclass(slots=True)
class Gathered:
    """Gathers a choice's deltas."""

    index: int = 0
    blocks: list[GatheredText | GatheredCall] = field(default_factory=list)
    """Texts and calls, in the order in which they came."""
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish: Finish | None = None

    @property
    def text(self) -> str:
        """All text outside the calls."""
        return "".join(block.text for block in self.blocks if isinstance(block, GatheredText))

    @property
    def calls(self) -> list[GatheredCall]:
        """The calls alone."""
        return [block for block in self.blocks if isinstance(block, GatheredCall)]

    def add(self, deltas: Sequence[Delta], logprobs: Sequence[TokenLogprob] = ()) -> None:
        """Take the next piece of the choice."""
        self.logprobs.extend(logprobs)
        for delta in deltas:
            match delta:
                case TextDelta(text):
                    self._run_of_text().pieces.append(text)
                case CallStart(_, call_id, name):
                    self.blocks.append(GatheredCall(call_id, name))
                case CallArguments(position, text):
                    self.calls[position].arguments += text
                case Finish():
                    self.finish = delta

    def _run_of_text(self) -> GatheredText:
        last = self.blocks[-1] if self.blocks else None
        if isinstance(last, GatheredText):
            return last
        run = GatheredText()
        self.blocks.append(run)
        return run
