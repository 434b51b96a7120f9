"""Our own server: `POST /cache/warm` computes a prompt, and pins it for its lifetime."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import msgspec

from headstart.insight.warm.dialects.dialect import Call, Heard, Target
from headstart.insight.warm.dialects.generating import Generating
from headstart.ledger import Account


class _Prompt(msgspec.Struct):
    prompt_tokens: int
    cached_tokens: int


class _Answer(msgspec.Struct):
    prompts: tuple[_Prompt]


class Headstart(Generating):
    """Behind the server's own URL. A body is `messages`, `prompt` or `tokens`."""

    vendor: ClassVar[str] = "engine"

    def lifetimes(self, _: Mapping[str, Any]) -> Collection[str]:
        """A pin's is the caller's choice."""
        return ()

    def call(self, target: Target, _: Heard | None) -> Call:
        """Each pins anew."""
        body = {"model": target.model, **target.body, "ttl": target.seconds}
        return Call("POST", "/cache/warm", body)

    def answer_tokens(self, _: Target) -> int:
        """None."""
        return 0

    def heard(self, answer: bytes, _: Target, __: Heard | None, ___: float) -> Heard:
        """What wasn't cached was computed."""
        (told,) = msgspec.json.decode(answer, type=_Answer).prompts
        return Heard(Account(told.prompt_tokens, told.cached_tokens), told.cached_tokens, None)
