"""Chat bodies that a gateway (LiteLLM, OpenRouter) turns into another vendor's own format."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headstart.contracts.prompt import NO_WISHES, Kind
from headstart.insight.asked.asked import Vendor
from headstart.insight.asked.formats.anthropic import to_settings
from headstart.insight.asked.formats.contents import Contents
from headstart.insight.asked.piece import Piece

ORDERS: Mapping[Vendor, tuple[Kind, ...]] = {
    "anthropic": ("tool", "system", "developer"),
    "gemini": ("system", "developer", "tool"),
}
"""What these vendors render before the conversation, in their order."""


def translated(contents: Contents, body: Mapping[str, Any], vendor: Vendor) -> Contents:
    """The same as `vendor` gets to see it: the system prompt in front, settings by its names."""
    order = ORDERS.get(vendor)
    if order is None:
        return contents

    def rank(piece: Piece) -> int:
        return order.index(piece.kind) if piece.kind in order else len(order)

    pieces = sorted(contents.pieces, key=rank)
    settings = to_settings(body, pieces) if vendor == "anthropic" else {}
    return replace(contents, pieces=pieces, settings=settings, wishes=NO_WISHES, partition="")
