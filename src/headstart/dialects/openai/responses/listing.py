"""A page of items."""

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


def parse_page(query: Mapping[str, str]) -> Page:
    """From a URL's query. Raises ApiError 400."""
    order = query.get("order", "desc")
    choose(order, ("asc", "desc"), "order")
    limit = query.get("limit", str(DEFAULT_LIMIT))
    if not (limit.isascii() and limit.isdigit() and 1 <= int(limit[:9]) <= MOST):
        message = f"Invalid 'limit': expected an integer from 1 to {MOST}, but got '{limit}'."
        raise invalid(message, "limit", "invalid_value")
    return Page(int(limit), order == "desc", query.get("after"))


def list_items(items: Sequence[Mapping[str, Any]], page: Page) -> dict[str, Any]:
    """The page. Raises ApiError 400 where `after` is none of the items."""
    ordered = list(reversed(items)) if page.newest_first else list(items)
    begin = 0
    if page.after is not None:
        ids = [item["id"] for item in ordered]
        if page.after not in ids:
            raise invalid(f"Invalid 'after': there is no item '{page.after}'.", "after")
        begin = ids.index(page.after) + 1
    shown = ordered[begin : begin + page.limit]
    return {
        "object": "list",
        "data": shown,
        "first_id": shown[0]["id"] if shown else "",
        "last_id": shown[-1]["id"] if shown else "",
        "has_more": begin + page.limit < len(ordered),
    }
