"""Which dialect a request speaks, as far as it shows outside its body."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from starlette.requests import Request

from headstart.dialects.anthropic.errors import AnthropicManners
from headstart.dialects.deepseek.errors import DeepSeekManners
from headstart.dialects.dialect import Manners
from headstart.dialects.gemini.errors import GeminiManners
from headstart.dialects.openai.errors import OpenAIManners

OPENAI = OpenAIManners()
ANTHROPIC = AnthropicManners()
GEMINI = GeminiManners()
DEEPSEEK = DeepSeekManners()
BY_PATH: Sequence[tuple[re.Pattern[str], Manners]] = (
    (re.compile(r"/v1/messages(/|$)"), ANTHROPIC),
    (re.compile(r"/v1beta/|/v1/cachedContents(/|$)"), GEMINI),
    (re.compile(r"/v1/models/.+:(generateContent|streamGenerateContent|countTokens)$"), GEMINI),
    (re.compile(r"/(chat/completions|models)$"), DEEPSEEK),
)
"""Paths that only one vendor has."""
BY_HEADER: Mapping[str, Manners] = MappingProxyType(
    {"anthropic-version": ANTHROPIC, "x-goog-api-key": GEMINI}
)
"""Headers that only one vendor's clients send; `x-api-key` is sent by others too."""


def manners_of(request: Request) -> Manners:
    """How the client expects to be told of a failure."""
    path = request.url.path
    by_path = (manners for pattern, manners in BY_PATH if pattern.match(path))
    by_header = (manners for header, manners in BY_HEADER.items() if header in request.headers)
    return next(chain(by_path, by_header), GEMINI if "key" in request.query_params else OPENAI)
