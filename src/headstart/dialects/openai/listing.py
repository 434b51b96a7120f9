"""A page of what is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headstart.dialects.errors import invalid
from headstart.dialects.openai.values import choose

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


def list_items(items: Sequence[tuple[str, Any]], page: Page) -> dict[str, Any]:
    """The page of `items`, each with its id, the oldest first.

    Raises ApiError 400 where `after` is none of them.
    """
    ordered = list(reversed(items)) if page.newest_first else list(items)
    ids = [name for name, _ in ordered]
    begin = 0
    if page.after is not None:
        if page.after not in ids:
            raise invalid(f"Invalid 'after': there is no item '{page.after}'.", "after")
        begin = ids.index(page.after) + 1
    end = begin + page.limit
    return {
        "object": "list",
        "data": [item for _, item in ordered[begin:end]],
        "first_id": next(iter(ids[begin:end]), ""),
        "last_id": next(iter(ids[begin:end][::-1]), ""),
        "has_more": end < len(ids),
    }
