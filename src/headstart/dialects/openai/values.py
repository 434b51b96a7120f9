"""Values of which there is a known set, refused in OpenAI's words."""

from collections.abc import Collection

from headstart.dialects.errors import ApiError, invalid


def choose(value: str | None, allowed: Collection[str], path: str) -> None:
    """Raises ApiError 400 for a value, given at all, that isn't one of these."""
    if value is not None and value not in allowed:
        raise invalid_value(value, allowed, path)


def invalid_value(value: str, allowed: Collection[str], path: str) -> ApiError:
    """`value` at `path` isn't one of these."""
    message = f"Invalid value: '{value}'. Supported values are: {listing(allowed)}."
    return invalid(message, path, "invalid_value")


def listing(names: Collection[str]) -> str:
    """`'a', 'b', and 'c'`."""
    *before, last = (f"'{name}'" for name in names)
    if not before:
        return last
    return f"{before[0]} and {last}" if len(before) == 1 else f"{', '.join(before)}, and {last}"
