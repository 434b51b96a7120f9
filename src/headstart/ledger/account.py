"""One request's token account. Every vendor's usage object is a projection of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Account:
    """fresh + read + written = prompt, every term at least 0; fixed when the answer begins."""

    prompt: int
    read: int
    """Prompt tokens whose prefill was skipped and that the contract may call cached."""
    output: int = 0
    written: Mapping[str, int] = field(default_factory=dict)
    """Prompt tokens billed as written to the cache, by lifetime (`5m`, `1h`, `30m`, `12h`)."""
    token_seconds: int = 0
    """Storage that is paid here: tokens held, times the seconds they are held (Gemini)."""
    warms: bool = False
    """It only fills the cache (a prewarm, a `cachedContents` created): without one, nobody asks."""

    def __post_init__(self) -> None:
        terms = (self.prompt, self.read, self.output, self.fresh, self.token_seconds)
        if min(*terms, *self.written.values()) < 0:
            raise ValueError(f"an account with a negative term: {self}")

    @property
    def fresh(self) -> int:
        """Prompt tokens computed at the plain price."""
        return self.prompt - self.read - sum(self.written.values())

    def __add__(self, other: "Account") -> "Account":
        """The account of several prompts that answer one request."""
        lifetimes = {**self.written, **other.written}
        return Account(
            self.prompt + other.prompt,
            self.read + other.read,
            self.output + other.output,
            {name: self.written.get(name, 0) + other.written.get(name, 0) for name in lifetimes},
            self.token_seconds + other.token_seconds,
            self.warms and other.warms,
        )
