"""What a body asks of the prompt cache: options, breakpoints, the older retention."""

from collections.abc import Collection
from typing import Literal

from msgspec import Struct

from headstart.contracts.prompt import Mark, Wishes
from headstart.dialects.openai.values import choose

MODES = ("implicit", "explicit")
"""The first one is the default, here and below."""
LIFETIMES = ("30m", "12h")
"""Of a breakpoint, and of a request to Responses; a chat completion's is `30m` alone."""
RETENTIONS = ("in_memory", "24h")


class Breakpoint(Struct, forbid_unknown_fields=True):
    """`prompt_cache_breakpoint`: where a prefix ends that shall be cached."""

    mode: str
    ttl: str | None = None


class CacheOptions(Struct, forbid_unknown_fields=True):
    """`prompt_cache_options`."""

    mode: str | None = None
    ttl: str | None = None


def to_mark(wanted: Breakpoint | None, path: str) -> Mark | None:
    """The mark of the block at `path`. Raises ApiError 400."""
    if wanted is None:
        return None
    choose(wanted.mode, ("explicit",), f"{path}.prompt_cache_breakpoint.mode")
    choose(wanted.ttl, LIFETIMES, f"{path}.prompt_cache_breakpoint.ttl")
    return Mark(wanted.ttl)


def to_wishes(
    options: CacheOptions | None, retention: str | None, lifetimes: Collection[str]
) -> Wishes:
    """What the request asks of the cache as a whole. Raises ApiError 400."""
    choose(retention, RETENTIONS, "prompt_cache_retention")
    if options is None:
        return Wishes(retention=retention)
    choose(options.mode, MODES, "prompt_cache_options.mode")
    choose(options.ttl, lifetimes, "prompt_cache_options.ttl")
    mode: Literal["implicit", "explicit"] = "explicit" if options.mode == "explicit" else "implicit"
    return Wishes(mode, options.ttl, retention=retention, told=True)
