"""OpenAI's Responses: `prompt_cache_options.prewarm` writes, or reads, and answers nothing (O16).

Models of the older regime know no such options: they are asked for the shortest answer.
"""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import msgspec

from headstart.insight.warm.dialects import openai_marks
from headstart.insight.warm.dialects.dialect import Call, Heard, Target
from headstart.insight.warm.dialects.generating import Generating, unstreamed
from headstart.ledger import Account

SHORTEST = 16
"""The least that `max_output_tokens` may be."""


class _Split(msgspec.Struct):
    ttl_30m_tokens: int
    ttl_12h_tokens: int


class _Details(msgspec.Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_tokens_details: _Split | None = None


class _Usage(msgspec.Struct):
    input_tokens: int
    output_tokens: int
    input_tokens_details: _Details = msgspec.field(default_factory=_Details)


class _Answer(msgspec.Struct):
    usage: _Usage


class OpenAIResponses(Generating):
    """`POST /responses`, behind a base URL that ends in `/v1`."""

    vendor: ClassVar[str] = "openai"

    def lifetimes(self, body: Mapping[str, Any]) -> Collection[str]:
        """Of the request and its breakpoints."""
        return openai_marks.lifetimes(body)

    def call(self, target: Target, _: Heard | None) -> Call:
        """It isn't stored: nobody goes on from it."""
        body = unstreamed(target.body, store=False)
        if _prewarms(target):
            options = body.get(openai_marks.OPTIONS) or {}
            body[openai_marks.OPTIONS] = {**options, "prewarm": True}
        else:
            body["max_output_tokens"] = SHORTEST
        return Call("POST", "/responses", {"model": target.model, **body})

    def answer_tokens(self, target: Target) -> int:
        """None where it can prewarm."""
        return 0 if _prewarms(target) else SHORTEST

    def heard(self, answer: bytes, target: Target, _: Heard | None, __: float) -> Heard:
        """`input_tokens` includes what was read and written (O9)."""
        usage = msgspec.json.decode(answer, type=_Answer).usage
        details = usage.input_tokens_details
        split, total = details.cache_write_tokens_details, details.cache_write_tokens or 0
        written = {target.lifetime: total} if total and target.lifetime is not None else {}
        if split is not None:
            written = {"30m": split.ttl_30m_tokens, "12h": split.ttl_12h_tokens}
        read = details.cached_tokens
        account = Account(usage.input_tokens, read or 0, usage.output_tokens, written)
        return Heard(account, read, openai_marks.kept(account, target))


def _prewarms(target: Target) -> bool:
    return target.profile.contract == openai_marks.BREAKPOINTS
