"""`:countTokens`: from the body to the prompt that is counted, and the answer."""

from typing import Any

from msgspec import Struct

from headstart.dialects.chat import ChatRequest
from headstart.dialects.errors import invalid
from headstart.dialects.gemini.content import Content
from headstart.dialects.gemini.request import Find, GenerateFields, to_chat
from headstart.dialects.gemini.usage import as_text
from headstart.dialects.gemini.wire import read


class CountFields(Struct, kw_only=True):
    """The body's fields: contents alone, or a whole request."""

    model: str | None = None
    contents: list[Content] | None = None
    generate_content_request: GenerateFields | None = None


def parse_count(body: bytes, model: str, find: Find) -> ChatRequest:
    """The request whose prompt is counted. Raises ApiError 400, and what `find` raises."""
    fields = read(body, CountFields)
    asked = fields.generate_content_request
    if asked is None:
        asked = GenerateFields(contents=fields.contents)
    elif fields.contents:
        message = "Send contents or generate_content_request, not both."
        raise invalid(message, "generate_content_request")
    return to_chat(asked, model, find, stream=False)


def counted(tokens: int, cached: int) -> dict[str, Any]:
    """`CountTokensResponse`; `cached` tokens of the prompt stand in a cached content."""
    body: dict[str, Any] = {"totalTokens": tokens, "promptTokensDetails": as_text(tokens)}
    if cached:
        body["cachedContentTokenCount"] = cached
        body["cacheTokensDetails"] = as_text(cached)
    return body
