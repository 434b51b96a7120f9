"""Which dialect a request speaks, as far as it shows outside its body."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from starlette.requests import Request

from headstart.dialects.dialect import Manners
from headstart.dialects.gemini.errors import GeminiManners
from headstart.dialects.openai.errors import OpenAIManners

OPENAI = OpenAIManners()
GEMINI = GeminiManners()
BY_HEADER: Mapping[str, Manners] = MappingProxyType({"x-goog-api-key": GEMINI})
"""Headers that only one vendor's clients send."""
GEMINI_PATH = re.compile(
    r"/v1beta/|/v1/cachedContents(/|$)"
    r"|/v1/models/.+:(generateContent|streamGenerateContent|countTokens)$"
)


def manners_of(request: Request) -> Manners:
    """How the client expects to be told of a failure."""
    spoken = (manners for header, manners in BY_HEADER.items() if header in request.headers)
    by_url = "key" in request.query_params or GEMINI_PATH.match(request.url.path)
    return next(spoken, GEMINI if by_url else OPENAI)


def request_id_of(request: Request) -> str:
    """Unique; the id that the response's headers quote."""
    return str(request.scope["headstart.request_id"])
