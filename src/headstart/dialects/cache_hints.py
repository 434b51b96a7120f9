"""`cache_hints`: what a client knows of what comes next. Answers don't depend on it."""

from typing import Annotated

import msgspec
from msgspec import Meta

LONGEST_GAP = 7 * 24 * 3600.0


class CacheHints(msgspec.Struct, frozen=True):
    """An extension to OpenAI's API; the policy that evicts prefixes uses it."""

    session: Annotated[str, Meta(min_length=1, max_length=256)] | None = None
    """Requests of one name go on from one another; else the server tells by their prefixes."""
    ended: bool = False
    """No request of the session will follow."""
    expected_gap: Annotated[float, Meta(ge=0, le=LONGEST_GAP)] | None = None
    """Seconds until the session's next request."""


NO_HINTS = CacheHints()
