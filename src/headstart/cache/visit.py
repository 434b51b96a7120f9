"""What is known of a request besides its tokens, for policies that use it."""

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Visit:
    """Hints; every one may be missing. Times are seconds on the cache's clock."""

    now: float = 0.0
    prompt_tokens: int = 0
    new_tokens: int = 0
    """Prompt tokens that were not reused."""
    output_tokens: int = 0
    session: Hashable = None
    """Who goes on where this request ends, no two tenants' alike; None where only tokens tell."""
    stop: str | None = None
    """Why the answer ended, such as "stop", "length" or "tool_calls"."""
    ended: bool = False
    """The client says that nothing will follow."""
    expected_gap: float | None = None
    """Seconds until the next request of the session, if the client knows."""
