"""What a body says to a cache, whatever its format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from headstart.contracts.prompt import NO_WISHES, Wishes
from headstart.insight.asked.piece import Piece


@dataclass(frozen=True, slots=True)
class Contents:
    """A body, read."""

    pieces: Sequence[Piece]
    """In the order in which its vendor renders them."""
    settings: Mapping[str, str] = field(default_factory=dict)
    wishes: Wishes = NO_WISHES
    partition: str = ""
    tokens: Sequence[int] | None = None
    """Where the prompt was sent as token ids."""


def spelled(told: Mapping[str, Any]) -> dict[str, str]:
    """Settings as JSON; what wasn't sent is left out."""
    return {
        name: msgspec.json.encode(value).decode()
        for name, value in told.items()
        if value is not None
    }
