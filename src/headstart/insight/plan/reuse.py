"""How much of a prompt can be found again."""

from dataclasses import dataclass

from headstart.insight.plan import simple


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prefix that comes again, and a question that is new each time. Tokens."""

    prefix: int
    question: int
    block: int = 16
    """Tokens of a KV block; 1 where the cache is exact to the token, as headstart's radix index."""

    @property
    def tokens(self) -> int:
        """Of the whole prompt."""
        return self.prefix + self.question

    @property
    def ceiling(self) -> float:
        """The highest hit rate, 0 … 1."""
        return simple.reusable(self.prefix, self.question)

    @property
    def reusable(self) -> int:
        """Full blocks of the prefix, but never the prompt's last token: it has to be computed."""
        return simple.aligned(min(self.prefix, self.tokens - 1), self.block)
