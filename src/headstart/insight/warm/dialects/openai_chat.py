"""OpenAI's chat completions, and everybody's who speaks like it: one token is the shortest answer.

`prewarm` is an option of Responses alone (openai 3.57.0's types).
"""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import msgspec

from headstart.insight.warm.dialects import openai_marks
from headstart.insight.warm.dialects.dialect import Call, Heard, Target
from headstart.insight.warm.dialects.generating import Generating, unstreamed
from headstart.ledger import Account, Profile

LIMITS = ("max_tokens", "max_completion_tokens")


class _Details(msgspec.Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int
    completion_tokens: int
    prompt_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: int | None = None


class _Answer(msgspec.Struct):
    usage: _Usage


class OpenAIChat(Generating):
    """`POST /chat/completions`, behind a base URL that ends in `/v1`."""

    vendor: ClassVar[str] = "openai"
    limit: ClassVar[str] = "max_completion_tokens"
    """The field that ends an answer."""

    def lifetimes(self, body: Mapping[str, Any]) -> Collection[str]:
        """Of the request and its breakpoints."""
        return openai_marks.lifetimes(body)

    def offered(self, profile: Profile) -> Collection[str]:
        """The longer ones are for Responses, where they are billed."""
        billed = profile.contract == openai_marks.BREAKPOINTS
        return tuple(profile.lifetimes)[:1] if billed else tuple(profile.lifetimes)

    def call(self, target: Target, _: Heard | None) -> Call:
        """The body's own limit is replaced by 1, under the name that it has there."""
        body = unstreamed(target.body)
        limit = next((name for name in LIMITS if body.pop(name, None) is not None), self.limit)
        body = {name: value for name, value in body.items() if name not in LIMITS}
        return Call("POST", "/chat/completions", {"model": target.model, **body, limit: 1})

    def heard(self, answer: bytes, target: Target, _: Heard | None, __: float) -> Heard:
        """`prompt_tokens` includes what was read and written (O9)."""
        usage = msgspec.json.decode(answer, type=_Answer).usage
        details = usage.prompt_tokens_details or _Details()
        read = details.cached_tokens
        if read is None:
            read = usage.prompt_cache_hit_tokens
        total = details.cache_write_tokens or 0
        written = {target.lifetime: total} if total and target.lifetime is not None else {}
        account = Account(usage.prompt_tokens, read or 0, usage.completion_tokens, written)
        return Heard(account, read, openai_marks.kept(account, target))


class DeepSeek(OpenAIChat):
    """DeepSeek's: the same with hits and misses, and the older limit."""

    vendor: ClassVar[str] = "deepseek"
    limit: ClassVar[str] = "max_tokens"
