"""One stretch of what a model reads, with its place in the body."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from headstart.contracts.prompt import Kind, Mark, digest

Address = tuple[str | int, ...]
"""Keys and indices from the body down to a value."""

EARLY: frozenset[Kind] = frozenset(("tool", "system", "developer"))
"""What comes before the conversation."""


@dataclass(frozen=True)
class Piece:
    """A tool, a block of a message, or a message without blocks, in the vendor's order."""

    kind: Kind
    address: Address
    text: str
    """What the model reads of it. Of a value that isn't text, its JSON with keys as they came."""
    message: int = -1
    """Index of its message; -1 before the messages."""
    role: str = ""
    """As the body spells it."""
    name: str = ""
    """Of a tool, of the tool that is called, or of who speaks."""
    id: str = ""
    """What else makes it differ from one of the same text: a call's id, where it counts."""
    mark: Mark | None = None
    markable: bool = True
    json: bool = False
    """Whether `text` is the JSON of a value."""
    media: str = ""
    """`image`, `audio`, `file`, …: then `text` is a digest of its bytes."""

    @cached_property
    def digest(self) -> bytes:
        """Of all it says, its mark excluded."""
        return digest(self.kind, utf8(self.name), utf8(self.id), utf8(self.text))

    @cached_property
    def canonical(self) -> str:
        """The same text for what means the same: JSON with sorted keys."""
        return sorted_json(json.loads(self.text)) if self.json else self.text

    @property
    def pointer(self) -> str:
        """Its place as a JSON pointer (RFC 6901)."""
        return pointer(self.address)


def pointer(address: Address) -> str:
    """An address as a JSON pointer."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in address)
    return "".join(f"/{step}" for step in steps)


def plain_json(value: Any) -> str:
    """A value's JSON, keys in the order in which they came."""
    return json.dumps(value, ensure_ascii=False)


def sorted_json(value: Any) -> str:
    """A value's JSON, independent of the order of its keys."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def utf8(text: str) -> bytes:
    """Bytes of any text, lone surrogates too."""
    return text.encode("utf-8", "surrogatepass")


def messages_of(pieces: Sequence[Piece]) -> int:
    """How many messages they are of."""
    return len({piece.message for piece in pieces if piece.message >= 0})
