"""The four segments of a prompt."""

from enum import IntEnum


class Segment(IntEnum):
    """How long a part stays the same. They stand in this order: the longer, the earlier."""

    ALWAYS = 0
    DAILY = 1
    """Or as long as the tenant is the same."""
    SESSION = 2
    NOW = 3

    @property
    def key(self) -> str:
        """For programs."""
        return ("always", "tenant_or_day", "session", "now")[self]

    @property
    def title(self) -> str:
        """For people."""
        return ("never changes", "per day or tenant", "per session", "every time")[self]
