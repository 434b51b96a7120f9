"""Anthropic: with `max_tokens: 0` a prompt is written, or read and refreshed, and no more (A15).

The cache's key holds the settings that such a call can't have: a body with a forced tool or a
format is sent for one token instead, and one with thinking can't be warmed.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

import msgspec

from headstart.insight.warm.dialects.dialect import Call, Heard, Target
from headstart.insight.warm.dialects.generating import Generating, unstreamed
from headstart.ledger import Account

VERSION = "2023-06-01"
MARK = "cache_control"
FORCED = ("any", "tool")


class _Split(msgspec.Struct):
    ephemeral_5m_input_tokens: int
    ephemeral_1h_input_tokens: int


class _Usage(msgspec.Struct):
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: _Split | None = None


class _Answer(msgspec.Struct):
    usage: _Usage


class Anthropic(Generating):
    """`POST /v1/messages`."""

    vendor: ClassVar[str] = "anthropic"

    def headers(self, key: str | None) -> Mapping[str, str]:
        """The version too."""
        return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})

    def problem(self, body: Mapping[str, Any], _resource: str | None) -> str | None:
        """Only what is marked is cached."""
        thinking = body.get("thinking")
        if isinstance(thinking, Mapping) and thinking.get("type") == "enabled":
            return "a body with thinking can't be sent for fewer tokens than its budget"
        return None if any(_marks(body)) else f"it has no {MARK}, so nothing of it is cached"

    def lifetimes(self, body: Mapping[str, Any]) -> Collection[str]:
        """Of all marks."""
        return {str(mark.get("ttl", "5m")) for mark in _marks(body)}

    def call(self, target: Target, _: Heard | None) -> Call:
        """The same each time."""
        body = unstreamed(target.body, max_tokens=self.answer_tokens(target))
        return Call("POST", "/v1/messages", {"model": target.model, **body})

    def answer_tokens(self, target: Target) -> int:
        """One where none can't be asked for."""
        choice, output = target.body.get("tool_choice"), target.body.get("output_config")
        forced = isinstance(choice, Mapping) and choice.get("type") in FORCED
        shaped = isinstance(output, Mapping) and output.get("format") is not None
        return int(forced or shaped)

    def heard(self, answer: bytes, target: Target, _: Heard | None, __: float) -> Heard:
        """`input_tokens` is what was neither read nor written (A10)."""
        usage = msgspec.json.decode(answer, type=_Answer).usage
        split, read = usage.cache_creation, usage.cache_read_input_tokens
        total = usage.cache_creation_input_tokens or 0
        written = {target.lifetime or "5m": total}
        if split is not None:
            written = {"5m": split.ephemeral_5m_input_tokens, "1h": split.ephemeral_1h_input_tokens}
        prompt = usage.input_tokens + (read or 0) + sum(written.values())
        account = Account(prompt, read or 0, usage.output_tokens, written)
        return Heard(account, read, account.read + sum(written.values()))


def _marks(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every `cache_control`, wherever it stands."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name == MARK and isinstance(inner, Mapping):
                yield inner
            else:
                yield from _marks(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _marks(inner)
