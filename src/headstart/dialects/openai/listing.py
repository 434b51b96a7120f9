"""A page of what is kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from headstart.dialects.errors import invalid
from headstart.dialects.openai.values import choose

Thing = TypeVar("Thing")

DEFAULT_LIMIT = 20
MOST = 100


@dataclass(frozen=True, slots=True)
class Page:
    """Which of them are wanted."""

    limit: int
    newest_first: bool
    after: str | None
    """The id of the last item before the page."""


def parse_page(query: Mapping[str, str], order: str = "desc") -> Page:
    """From a URL's query; `order` where it names none. Raises ApiError 400."""
    order = query.get("order", order)
    choose(order, ("asc", "desc"), "order")
    limit = query.get("limit", str(DEFAULT_LIMIT))
    if not (limit.isascii() and limit.isdigit() and 1 <= int(limit[:9]) <= MOST):
        message = f"Invalid 'limit': expected an integer from 1 to {MOST}, but got '{limit}'."
        raise invalid(message, "limit", "invalid_value")
    return Page(int(limit), order == "desc", query.get("after"))


def list_items(
    items: Sequence[Thing], page: Page, name: Callable[[Thing], str], show: Callable[[Thing], Any]
) -> dict[str, Any]:
    """The page of `items`, which are the oldest first. Only what is on it is shown.

    Raises ApiError 400 where `after` is the name of none of them.
    """
    ordered = list(reversed(items)) if page.newest_first else list(items)
    ids = [name(item) for item in ordered]
    begin = 0
    if page.after is not None:
        if page.after not in ids:
            raise invalid(f"Invalid 'after': there is no item '{page.after}'.", "after")
        begin = ids.index(page.after) + 1
    end = begin + page.limit
    return {
        "object": "list",
        "data": [show(item) for item in ordered[begin:end]],
        "first_id": next(iter(ids[begin:end]), ""),
        "last_id": next(iter(ids[begin:end][::-1]), ""),
        "has_more": end < len(ids),
    }
