"""Requests in a line."""

from typing import Any

from headstart.contracts.prompt import Kind
from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import Piece

RULES = " ".join(f"Rule {n}: be brief, be kind, cite paragraph {n * 7}." for n in range(1, 30))


def asked(*said: tuple[Kind, str], vendor: Any = "openai", **fields: Any) -> Asked:
    """Pieces with a message each; tools are named by their text's first word."""
    pieces = []
    message = -1
    for index, (kind, text) in enumerate(said):
        if kind == "tool":
            name = text.split()[0]
            pieces.append(Piece("tool", ("tools", index), text, name=name))
            continue
        message += 1
        pieces.append(Piece(kind, ("messages", message, "content"), text, message, role=kind))
    fields = {"model": "gpt-5.6", "format": "chat"} | fields
    return Asked(vendor=vendor, pieces=pieces, body={}, **fields)
