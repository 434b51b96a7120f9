"""Which dialect a request speaks, as far as it shows outside its body."""

from collections.abc import Mapping
from types import MappingProxyType

from starlette.requests import Request

from headstart.dialects.dialect import Manners
from headstart.dialects.openai.errors import OpenAIManners

OPENAI = OpenAIManners()
BY_HEADER: Mapping[str, Manners] = MappingProxyType({})
"""Headers that only one vendor's clients send."""


def manners_of(request: Request) -> Manners:
    """How the client expects to be told of a failure."""
    spoken = (manners for header, manners in BY_HEADER.items() if header in request.headers)
    return next(spoken, OPENAI)


def request_id_of(request: Request) -> str:
    """Unique; the id that the response's headers quote."""
    return str(request.scope["headstart.request_id"])
