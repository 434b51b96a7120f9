"""From a vendor's usage object to a token account, told by the object's own fields.

Most vendors count what was cached into the prompt's tokens; Anthropic's and Bedrock's own objects
count it beside them. Gateways mix the names, so a count that says it includes more than it holds
is taken to be beside it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headstart.insight.asked.formats.values import fields
from headstart.ledger.account import Account

SHORT, LONG = "5m", "1h"
"""Anthropic's lifetimes; a write that names none is of the first."""
OPENAI_SHORT, OPENAI_LONG = "30m", "12h"
PLACES = ("usage", "usageMetadata", "usage_metadata")


def account(usage: Any) -> Account | None:
    """The account of a usage object; None for one of a shape that nobody here knows."""
    if not isinstance(usage, dict):
        return None
    for read in _READERS:
        found = read(usage)
        if found is not None:
            return found.account()
    return None


def find(response: Any) -> Any:
    """The usage object of a response: of a whole body, or of a stream's events.

    What later events say holds: Anthropic's `message_delta` counts from the beginning.
    """
    if isinstance(response, list):
        return merged(map(find, response))
    held = fields(response)
    for name in PLACES:
        if isinstance(held.get(name), dict):
            return held[name]
    for name in ("body", "response", "message"):
        if isinstance(held.get(name), dict | list):
            found = find(held[name])
            if found is not None:
                return found
    return None


def merged(usages: Iterable[Any]) -> dict[str, Any] | None:
    """One of several that a stream sends: the last value of each field that isn't null."""
    told: dict[str, Any] = {}
    for usage in usages:
        told |= {name: value for name, value in fields(usage).items() if value is not None}
    return told or None


@dataclass(frozen=True, slots=True)
class _Told:
    """Tokens as a usage object counts them."""

    input: int
    read: int
    written: Mapping[str, int]
    output: int
    beside: bool
    """Whether `input` leaves out what was read and written."""

    def account(self) -> Account | None:
        written = {name: count for name, count in self.written.items() if count}
        cached = self.read + sum(written.values())
        beside = self.beside or cached > self.input
        return Account(self.input + cached * beside, self.read, self.output, written)


def _anthropic(usage: Mapping[str, Any]) -> _Told | None:
    """`input_tokens` is what was neither read nor written (rule A10)."""
    beside = ("cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation")
    fresh = count(usage, "input_tokens")
    if (
        fresh is None
        or not any(name in usage for name in beside)
        or "input_tokens_details" in usage
    ):
        return None
    return _Told(
        fresh,
        count(usage, "cache_read_input_tokens") or 0,
        anthropic_writes(usage),
        count(usage, "output_tokens") or 0,
        beside=True,
    )


def anthropic_writes(usage: Mapping[str, Any]) -> dict[str, int]:
    """By lifetime: the total, of which the rest that the split doesn't name is short."""
    split = fields(usage.get("cache_creation"))
    long = count(split, "ephemeral_1h_input_tokens") or 0
    short = count(split, "ephemeral_5m_input_tokens") or 0
    total = count(usage, "cache_creation_input_tokens") or 0
    return {SHORT: max(short, total - long), LONG: long}


def _responses(usage: Mapping[str, Any]) -> _Told | None:
    """OpenAI's Responses, and whoever counts `input_tokens` with what was cached."""
    prompt = count(usage, "input_tokens")
    if prompt is None:
        return None
    return _details(prompt, usage, "input_tokens_details", "output_tokens")


def _chat(usage: Mapping[str, Any]) -> _Told | None:
    """OpenAI's chat, and whoever speaks like it; also with Anthropic's names for what is cached."""
    prompt = count(usage, "prompt_tokens")
    if prompt is None:
        return None
    told = _details(prompt, usage, "prompt_tokens_details", "completion_tokens")
    read = told.read or first(
        usage, "prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_tokens"
    )
    claudes = anthropic_writes(usage)  # Gateways write it beside OpenAI's own; it has a lifetime.
    writes = claudes if any(claudes.values()) else told.written
    return _Told(prompt, read or 0, writes, told.output, beside=False)


def _details(prompt: int, usage: Mapping[str, Any], name: str, output: str) -> _Told:
    details = fields(usage.get(name))
    written = first(details, "cache_write_tokens", "cache_creation_tokens") or 0
    split = fields(details.get("cache_write_tokens_details"))
    long = count(split, "ttl_12h_tokens") or 0
    short = max(written - long, count(split, "ttl_30m_tokens") or 0)
    return _Told(
        prompt,
        count(details, "cached_tokens") or 0,
        {OPENAI_SHORT: short, OPENAI_LONG: long},
        count(usage, output) or 0,
        beside=False,
    )


def _gemini(usage: Mapping[str, Any]) -> _Told | None:
    """`promptTokenCount` includes what was cached (rule G1); thoughts are output."""
    prompt = first(usage, "promptTokenCount", "prompt_token_count")
    if prompt is None:
        return None
    shown = first(usage, "candidatesTokenCount", "candidates_token_count") or 0
    thought = first(usage, "thoughtsTokenCount", "thoughts_token_count") or 0
    read = first(usage, "cachedContentTokenCount", "cached_content_token_count") or 0
    return _Told(prompt, read, {}, shown + thought, beside=False)


def _converse(usage: Mapping[str, Any]) -> _Told | None:
    """Bedrock's: `inputTokens` leaves out what was read and written, as Anthropic's does."""
    fresh = count(usage, "inputTokens")
    if fresh is None:
        return None
    read = first(usage, "cacheReadInputTokens", "cacheReadInputTokenCount") or 0
    total = first(usage, "cacheWriteInputTokens", "cacheWriteInputTokenCount") or 0
    details = usage.get("cacheDetails")
    long = sum(
        count(fields(each), "inputTokens") or 0
        for each in (details if isinstance(details, Sequence) else ())
        if fields(each).get("ttl") == LONG
    )
    written = {SHORT: max(0, total - long), LONG: long}
    return _Told(fresh, read, written, count(usage, "outputTokens") or 0, beside=True)


def _telemetry(usage: Mapping[str, Any]) -> _Told | None:
    """OpenTelemetry's attributes, flat; `input_tokens` includes what was cached."""
    name = "gen_ai.usage."
    prompt = first(usage, f"{name}input_tokens", f"{name}prompt_tokens")
    if prompt is None:
        return None
    read = first(usage, f"{name}cache_read.input_tokens", f"{name}cache_read_input_tokens")
    written = first(
        usage, f"{name}cache_creation.input_tokens", f"{name}cache_creation_input_tokens"
    )
    output = first(usage, f"{name}output_tokens", f"{name}completion_tokens")
    return _Told(prompt, read or 0, {SHORT: written or 0}, output or 0, beside=False)


def count(usage: Mapping[str, Any], name: str) -> int | None:
    """A number of tokens; None for null, absent, and what is none."""
    value = usage.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < 1 << 53 else None


def first(usage: Mapping[str, Any], *names: str) -> int | None:
    """The first of these fields that is a number of tokens."""
    return next((told for name in names if (told := count(usage, name)) is not None), None)


_READERS: tuple[Callable[[Mapping[str, Any]], _Told | None], ...] = (
    _anthropic,
    _responses,
    _chat,
    _gemini,
    _converse,
    _telemetry,
)
