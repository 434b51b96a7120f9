"""What both of OpenAI's APIs have in common: marks in bodies, and whose writes are told."""

from collections.abc import Iterator, Mapping
from typing import Any

from headstart.insight.warm.dialects.dialect import Target
from headstart.ledger import Account

BREAKPOINTS = "openai_breakpoints"
"""The contract of models that bill what is written (GPT-5.6 and later)."""
OPTIONS, POINT, RETENTION = (
    "prompt_cache_options",
    "prompt_cache_breakpoint",
    "prompt_cache_retention",
)


def lifetimes(body: Mapping[str, Any]) -> set[str]:
    """Of the request, and of breakpoints that have their own."""
    return {str(ttl) for ttl in _found(body)}


def kept(account: Account, target: Target) -> int | None:
    """Tokens that are cached behind a call; models that bill no writes don't tell."""
    if target.profile.contract != BREAKPOINTS:
        return None
    return account.read + sum(account.written.values())


def _found(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name in (OPTIONS, POINT) and isinstance(inner, Mapping) and inner.get("ttl"):
                yield inner["ttl"]
            elif name == RETENTION and inner is not None:
                yield inner
            else:
                yield from _found(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _found(inner)
