"""How long before the end of a lifetime it is renewed."""

MARGIN_SHARE, MARGIN_LEAST, MARGIN_MOST = 1 / 20, 5.0, 1 / 4
"""A share of it, but some seconds at least, as long as that isn't too large a share."""


def margin_of(seconds: float) -> float:
    """Of a lifetime of so many seconds."""
    return min(max(MARGIN_LEAST, seconds * MARGIN_SHARE), seconds * MARGIN_MOST)
