"""The token account of one response."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """`cached_tokens` of the prompt's tokens needed no prefill; it is part of `prompt_tokens`."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def render(self) -> dict[str, Any]:
        """The `usage` object; `cached_tokens` is always there, also as 0."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
        }
