"""`GET /{version}/models`."""

from collections.abc import Sequence
from typing import Any

from headstart.dialects.errors import invalid

PAGE = 50
MOST_PAGE = 1000
METHODS = ("generateContent", "streamGenerateContent", "countTokens", "createCachedContent")


def model(name: str, context: int) -> dict[str, Any]:
    """One model; prompt and answer share the `context`, in tokens."""
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        "inputTokenLimit": context,
        "outputTokenLimit": context,
        "supportedGenerationMethods": METHODS,
        "temperature": 1.0,
        "topP": 1.0,
        "maxTemperature": 2.0,
    }


def model_list(models: Sequence[dict[str, Any]], size: str, token: str) -> dict[str, Any]:
    """A page of them; `size` and `token` as the query says them. Raises ApiError 400."""
    count, begin = page_size(size) or PAGE, 0
    if token:
        if not token.isdecimal() or len(token) > 9:
            raise invalid("Invalid value at 'page_token': it is not one of ours.", "page_token")
        begin = int(token)
    end = begin + min(count, MOST_PAGE)
    page: dict[str, Any] = {"models": list(models[begin:end])}
    if end < len(models):
        page["nextPageToken"] = str(end)
    return page


def page_size(text: str) -> int | None:
    """`pageSize` of a query; None leaves it open. Raises ApiError 400."""
    if not text:
        return None
    if not text.isdecimal() or len(text) > 9:
        raise invalid(f"Invalid value at 'page_size' (TYPE_INT32), \"{text}\"", "page_size")
    return int(text)
