"""Which of many rows speaks for a model: exact names, and beginnings that end in `*`."""

import re

_DATED = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$")


def matches(pattern: str, name: str) -> bool:
    """`claude-opus-5*` speaks for every name that begins so; without a star, for itself alone."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def weight(pattern: str) -> tuple[int, bool]:
    """Sorts patterns: the longer one says more, and of two of one length the one without a star."""
    return len(pattern.removesuffix("*")), not pattern.endswith("*")


def undated(name: str) -> str:
    """`claude-sonnet-4-5-20250929` is `claude-sonnet-4-5` of a day."""
    return _DATED.sub("", name)
