"""What may still be added to a layout, so that a type checker sees what comes too late."""

from typing import Any, Literal, Protocol

Role = Literal["user", "assistant"]
Body = dict[str, Any]


class OutOfOrder(TypeError):
    """A part that stays longer was added behind one that doesn't."""


class Turns(Protocol):
    """History and what is asked now; all that stays longer is there."""

    def turn(self, role: Role, text: str) -> "Turns":
        """As `PromptLayout.turn`."""
        ...

    def now(self, *texts: str) -> "Asked":
        """As `PromptLayout.now`."""
        ...

    def to_anthropic(self, model: str, *, max_tokens: int, lifetime: str | None = None) -> Body:
        """As `PromptLayout.to_anthropic`."""
        ...

    def to_openai(self, model: str, *, lifetime: str | None = None) -> Body:
        """As `PromptLayout.to_openai`."""
        ...

    def to_responses(self, model: str, *, lifetime: str | None = None) -> Body:
        """As `PromptLayout.to_responses`."""
        ...

    def to_gemini(self) -> Body:
        """As `PromptLayout.to_gemini`."""
        ...


class Session(Turns, Protocol):
    """What holds for a session may follow."""

    def session(self, text: str, *, steady: bool = False) -> "Session":
        """As `PromptLayout.session`."""
        ...


class Daily(Session, Protocol):
    """What holds for a day or a tenant may follow."""

    def daily(self, text: str, *, steady: bool = False) -> "Daily":
        """As `PromptLayout.daily`."""
        ...


class Asked(Protocol):
    """A whole prompt: nothing may follow what is asked now."""

    def to_anthropic(self, model: str, *, max_tokens: int, lifetime: str | None = None) -> Body:
        """As `PromptLayout.to_anthropic`."""
        ...

    def to_openai(self, model: str, *, lifetime: str | None = None) -> Body:
        """As `PromptLayout.to_openai`."""
        ...

    def to_responses(self, model: str, *, lifetime: str | None = None) -> Body:
        """As `PromptLayout.to_responses`."""
        ...

    def to_gemini(self) -> Body:
        """As `PromptLayout.to_gemini`."""
        ...
