"""A prompt as a contract sees it: blocks in the vendor's order, marks and what else counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct, msgpack
from xxhash import xxh3_128_digest

Kind = Literal[
    "tool", "system", "developer", "user", "assistant", "thinking", "tool_use", "tool_result"
]

_frame = msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class Mark:
    """A client's wish that the prefix through this block be cached."""

    ttl: str | None = None
    """As the vendor spells it (`5m`, `12h`); None is the request's or the vendor's default."""


class Block(Struct, frozen=True, gc=False):
    """One position of the flattened prompt: a tool, a content block, a message without blocks.

    A struct, as messages are: a long conversation has thousands.
    """

    kind: Kind
    digest: bytes
    """Of all it says, its kind and role included, its mark excluded."""
    message: int
    """Index of its message, or of its run of system blocks or tools, in the request."""
    path: str
    """Where it stands in the body, as the vendor's errors spell it."""
    mark: Mark | None = None
    markable: bool = True
    """Whether it may carry a mark: an empty text and a thinking block may not."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a request asks of the cache as a whole."""

    mode: Literal["implicit", "explicit"] = "implicit"
    ttl: str | None = None
    """Of marks that name none (OpenAI)."""
    automatic: Mark | None = None
    """The mark at the top level of the body (Anthropic)."""
    retention: str | None = None
    """`in_memory` or `24h` (OpenAI's older models)."""
    told: bool = False
    """Whether mode and ttl were sent at all (`prompt_cache_options`)."""
    content: str | None = None
    """The name of a `cachedContents` resource that comes before the blocks (Gemini)."""
    content_tokens: int = 0
    """The beginning of the prompt that stands in it."""
    content_seconds: float | None = None
    """Where the prompt is that resource, which is being made: how long it will live."""


NO_WISHES = Wishes()


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request. Everything a contract decides follows from it, its entries and the time."""

    tenant: str
    model: str
    """As the client named it: two names share nothing."""
    blocks: Sequence[Block]
    ids: Sequence[int]
    """The rendered prompt."""
    partition: str = ""
    """What else the vendor separates caches by: a workspace, a cache key."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What shapes a vendor's prompt without being a block, by the vendor's name for it.

    Values are JSON. A contract says which names it knows and what each breaks; a default may be
    left out.
    """
    wishes: Wishes = NO_WISHES
    ends: Sequence[int] = ()
    """For each block, the tokens of the rendered prompt through it; they never fall.

    They may be worked out when they are asked for: ask for those alone that something hangs on.
    """

    @property
    def tokens(self) -> int:
        """All of the prompt, the words that open the answer included."""
        return len(self.ids)


def digest(*parts: bytes | str) -> bytes:
    """One digest of several parts, each framed by its length. Raises UnicodeEncodeError.

    Fast, not cryptographic: keys of KV are (`cache/keys.py`). Whoever finds two prompts of one
    digest gets a wrong account of their own, in which still nothing is read but what was reused.
    """
    return xxh3_128_digest(_frame(parts))
