"""What is sent: text that nobody has seen before, with a clock where one is wanted."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from headstart.insight.bench.prompts import PromptSource, as_words
from headstart.insight.probe.script import Prompt

CLOCK = "{clock}"
QUESTION = "Answer in one word: what is the text above about?"
NONCE_WORDS = 8


@dataclass(frozen=True, slots=True)
class Layout:
    """A prompt as it is sent again and again, with `{clock}` where a clock is to be filled in."""

    first: str
    last: str = QUESTION

    @property
    def has_clock(self) -> bool:
        """Whether two fillings of it differ."""
        return CLOCK in self.first or CLOCK in self.last

    def clock_first(self) -> "Layout":
        """The same with a clock in the first line; where it has one already, itself."""
        if CLOCK in self.first:
            return self
        return replace(self, first=f"Current time: {CLOCK}\n{self.first}")

    def clock_last(self) -> "Layout":
        """The same with the clock behind the question, and nowhere else."""
        first = self.first.replace(CLOCK, "").replace("Current time: \n", "", 1)
        return Layout(first, f"{self.last}\nCurrent time: {CLOCK}")

    def fill(self, clock: Callable[[], str]) -> Prompt:
        """The prompt of this moment."""
        now = clock() if self.has_clock else ""
        return Prompt(self.first.replace(CLOCK, now), self.last.replace(CLOCK, now))


class Unseen:
    """Makes layouts of equal length, none of which begins as any other."""

    def __init__(self, seed: int, words: int, text: str | None = None) -> None:
        """`words`: of the drawn text. `text`: the user's own instead, behind a few drawn words."""
        self._source = PromptSource(seed)
        self._words = words
        self._text = text

    def layout(self) -> Layout:
        """The next one."""
        if self._text is None:
            return Layout(as_words(self._source.fresh(self._words)))
        return Layout(f"{as_words(self._source.fresh(NONCE_WORDS))}. {self._text}")
