"""Which dialect a request speaks, as far as it shows outside its body."""

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType

from starlette.requests import Request

from headstart.dialects.anthropic.errors import AnthropicManners
from headstart.dialects.dialect import Manners
from headstart.dialects.openai.errors import OpenAIManners

OPENAI = OpenAIManners()
ANTHROPIC = AnthropicManners()
BY_PATH: Mapping[str, Manners] = MappingProxyType({"/v1/messages": ANTHROPIC})
"""Beginnings of paths that only one vendor has."""
BY_HEADER: Mapping[str, Manners] = MappingProxyType({"anthropic-version": ANTHROPIC})
"""Headers that only one vendor's clients send."""


def manners_of(request: Request) -> Manners:
    """How the client expects to be told of a failure."""
    path = request.url.path
    by_path = (manners for begin, manners in BY_PATH.items() if path.startswith(begin))
    by_header = (manners for header, manners in BY_HEADER.items() if header in request.headers)
    return next(chain(by_path, by_header), OPENAI)


def speaks_anthropic(request: Request) -> bool:
    """Whether the client is one of Anthropic's; `x-api-key` tells nothing, others send it too."""
    return manners_of(request) is ANTHROPIC


def request_id_of(request: Request) -> str:
    """Unique; the id that the response's headers quote."""
    return str(request.scope["headstart.request_id"])
