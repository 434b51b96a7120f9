"""`GET /v1/models` as Anthropic's clients read it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from headstart.dialects.anthropic.check import wrong

LIMIT = 20
MOST = 1000


def model(name: str, created: int, context: int) -> dict[str, Any]:
    """One model. `created` is in seconds since the epoch, `context` in tokens."""
    return {
        "type": "model",
        "id": name,
        "display_name": name,
        "created_at": datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "lifecycle": "active",
        "max_input_tokens": context,
        "max_tokens": context,
    }


def page(
    models: Sequence[dict[str, Any]], query: Mapping[str, str], lifecycles: Sequence[str] = ()
) -> dict[str, Any]:
    """A page of the list: `limit` models behind `after_id` or before `before_id`.

    `lifecycles` are those asked for; none is all but retired models. Raises ApiError 400.
    """
    limit = _limit(query.get("limit"))
    if lifecycles:
        models = [each for each in models if each["lifecycle"] in lifecycles]
    ids = [each["id"] for each in models]
    if (last := query.get("before_id")) is not None:
        end = _place(ids, last, "before_id")
        begin = max(end - limit, 0)
        has_more = begin > 0
    else:
        first = query.get("after_id")
        begin = 0 if first is None else _place(ids, first, "after_id") + 1
        end = begin + limit
        has_more = end < len(ids)
    shown = list(models[begin:end])
    return {
        "data": shown,
        "has_more": has_more,
        "first_id": shown[0]["id"] if shown else None,
        "last_id": shown[-1]["id"] if shown else None,
    }


def _limit(text: str | None) -> int:
    if text is None:
        return LIMIT
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise wrong("limit", "Input should be a valid integer")
    number = int(text)
    if number < 1:
        raise wrong("limit", "Input should be greater than or equal to 1")
    if number > MOST:
        raise wrong("limit", f"Input should be less than or equal to {MOST}")
    return number


def _place(ids: Sequence[str], name: str, field: str) -> int:
    if name not in ids:
        raise wrong(field, f"There is no model '{name}'")
    return ids.index(name)
