"""Pages of items."""

from typing import Any

import pytest

from headstart.dialects.errors import ApiError
from headstart.dialects.openai.listing import list_items, parse_page

ITEMS = [{"id": str(number)} for number in range(25)]


def page(**query: str) -> dict[str, Any]:
    return list_items(ITEMS, parse_page(query), lambda item: item["id"], dict)


def test_pages_in_a_row_are_all_items_once() -> None:
    for order, wanted in (("asc", ITEMS), ("desc", ITEMS[::-1])):
        seen: list[dict[str, str]] = []
        query = {"order": order, "limit": "10"}
        while True:
            one = page(**query)
            seen += one["data"]
            assert (one["first_id"], one["last_id"]) == (one["data"][0]["id"], seen[-1]["id"])
            if not one["has_more"]:
                break
            query["after"] = one["last_id"]
        assert seen == wanted


def test_twenty_of_the_newest_unless_told() -> None:
    one = page()
    assert [item["id"] for item in one["data"]] == [str(n) for n in range(24, 4, -1)]
    assert one["has_more"]


def test_a_page_behind_the_last_item_is_empty() -> None:
    one = page(after="0")
    assert (one["data"], one["has_more"]) == ([], False)


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "limit"),
        ({"limit": "x"}, "limit"),
        ({"order": "up"}, "order"),
        ({"after": "nobody"}, "after"),
    ],
)
def test_what_is_no_page_is_refused(query: dict[str, str], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        page(**query)
    assert (caught.value.status, caught.value.param) == (400, param)
