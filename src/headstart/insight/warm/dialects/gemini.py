"""Gemini: `cachedContents` are moved to a later end (G4), implicit caching takes one token."""

from collections.abc import Collection, Mapping
from datetime import datetime
from re import compile as pattern
from typing import Any, ClassVar

import msgspec

from headstart.insight.warm.dialects.dialect import Call, Heard, Target
from headstart.insight.warm.dialects.generating import Generating, unstreamed
from headstart.ledger import Account, Profile

VERSION = "v1beta"
EXPLICIT, IMPLICIT = "explicit", "implicit"
_FRACTION = pattern(r"(\.\d{6})\d+")


class _Size(msgspec.Struct):
    total: int = msgspec.field(name="totalTokenCount")


class _Resource(msgspec.Struct):
    name: str
    size: _Size = msgspec.field(name="usageMetadata")
    expires: str = msgspec.field(name="expireTime")


class _Usage(msgspec.Struct, rename="camel"):
    prompt_token_count: int
    candidates_token_count: int = 0
    cached_content_token_count: int = 0


class _Answer(msgspec.Struct):
    usage: _Usage = msgspec.field(name="usageMetadata")


class _Google:
    vendor: ClassVar[str] = "gemini"

    def headers(self, key: str | None) -> Mapping[str, str]:
        """As Google's clients send the key."""
        return {"x-goog-api-key": key} if key else {}


class CachedContents(_Google):
    """A resource that exists, or that a body makes. Moving its end costs only rent."""

    def problem(self, body: Mapping[str, Any], resource: str | None) -> str | None:
        """One or the other."""
        if (resource is None) == (not body):
            return "name a resource that exists, or a body to make one of, not both"
        return None

    def lifetimes(self, _: Mapping[str, Any]) -> Collection[str]:
        """How long each lasts is said by the call."""
        return (EXPLICIT,)

    def offered(self, _: Profile) -> Collection[str]:
        """As long as anybody likes, by one name."""
        return (EXPLICIT,)

    def call(self, target: Target, last: Heard | None) -> Call:
        """Look at it, or make it; from then on move its end."""
        name = target.resource if last is None else last.resource
        if name is None:
            body = {**target.body, "model": f"models/{target.model}", "ttl": _ttl(target)}
            return Call("POST", f"/{VERSION}/cachedContents", body)
        if last is None:
            return Call("GET", f"/{VERSION}/{name}")
        return Call("PATCH", f"/{VERSION}/{name}", {"ttl": _ttl(target)})

    def heard(self, answer: bytes, target: Target, last: Heard | None, now: float) -> Heard:
        """Rent is paid for the time that the end was moved by."""
        resource = msgspec.json.decode(answer, type=_Resource)
        tokens, expires = resource.size.total, _moment(resource.expires)
        begun = now if last is None or last.expires is None else last.expires
        rented = round(tokens * max(0.0, expires - begun))
        if last is not None:
            account, found = Account(0, 0, token_seconds=rented), tokens
        elif target.resource is not None:
            account, found = Account(0, 0), tokens
        else:
            written = {EXPLICIT: tokens}
            account = Account(tokens, 0, written=written, token_seconds=rented, warms=True)
            found = 0
        return Heard(account, found, tokens, expires, resource.name)

    def bills(self, target: Target, prefix: int, _: int) -> tuple[Account, Account]:
        """The input once, unless it is there; then rent."""
        again = Account(0, 0, token_seconds=round(prefix * target.interval))
        if target.resource is not None:
            return Account(0, 0), again
        rented = round(prefix * target.seconds)
        written = {EXPLICIT: prefix}
        return Account(prefix, 0, written=written, token_seconds=rented, warms=True), again


class GeminiGenerate(_Google, Generating):
    """`:generateContent`. Implicit caching promises nothing, and a miss has no counter (G1)."""

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Google's."""
        return _Google.headers(self, key)

    def lifetimes(self, _: Mapping[str, Any]) -> Collection[str]:
        """Implicit."""
        return (IMPLICIT,)

    def offered(self, _: Profile) -> Collection[str]:
        """Nobody can ask for more."""
        return (IMPLICIT,)

    def call(self, target: Target, _: Heard | None) -> Call:
        """For one token."""
        body = unstreamed(target.body)
        name = "generation_config" if "generation_config" in body else "generationConfig"
        limit = "max_output_tokens" if name == "generation_config" else "maxOutputTokens"
        body[name] = {**(body.get(name) or {}), limit: 1}
        return Call("POST", f"/{VERSION}/models/{target.model}:generateContent", body)

    def heard(self, answer: bytes, _: Target, __: Heard | None, ___: float) -> Heard:
        """`promptTokenCount` includes what was cached."""
        usage = msgspec.json.decode(answer, type=_Answer).usage
        read = usage.cached_content_token_count
        account = Account(usage.prompt_token_count, read, usage.candidates_token_count)
        return Heard(account, read, None)


def _ttl(target: Target) -> str:
    return f"{target.seconds:.3f}".rstrip("0").rstrip(".") + "s"


def _moment(text: str) -> float:
    """RFC 3339; raises msgspec.ValidationError."""
    try:
        return datetime.fromisoformat(_FRACTION.sub(r"\1", text)).timestamp()
    except ValueError:
        raise msgspec.ValidationError(f"expireTime {text!r} is no moment") from None
