"""Items of a request, as they are listed: each with its id and status."""

from typing import Any

from msgspec import Struct, to_builtins

from headstart.dialects.openai.responses.items import (
    CallItem,
    MessageItem,
    OutputItem,
    Piece,
    ReasoningItem,
    pieces,
)

Item = MessageItem | CallItem | OutputItem | ReasoningItem

PREFIXES = {MessageItem: "msg", CallItem: "fc", OutputItem: "fco", ReasoningItem: "rs"}
"""Of ids that are given here."""


class Listed(Struct, frozen=True):
    """An item that was read. Few are ever listed, so what is shown of it is made when it is."""

    id: str
    item: Item

    def shown(self) -> dict[str, Any]:
        """As JSON."""
        return {"id": self.id, "status": self.item.status or "completed", **_said(self.item)}


def _said(item: Item) -> dict[str, Any]:
    match item:
        case MessageItem(role, content):
            written = role == "assistant"
            show = _output_text if written else _input_text
            parts = [show(piece) for piece in pieces(content, "", written=written)]
            return {"type": "message", "role": role, "content": parts}
        case CallItem(_, call_id, name, arguments):
            return {
                "type": "function_call",
                "call_id": call_id,
                "name": name,
                "arguments": arguments,
            }
        case OutputItem(_, call_id, output):
            if not isinstance(output, str):
                output = [_input_text(piece) for piece in pieces(output, "", written=False)]
            return {"type": "function_call_output", "call_id": call_id, "output": output}
        case ReasoningItem():
            told = {name: value for name, value in to_builtins(item).items() if value is not None}
            told.pop("id", None)
            return told


def _input_text(piece: Piece) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "input_text", "text": piece.text}
    if piece.mark is not None:
        mark = {"mode": "explicit"} | ({} if piece.mark.ttl is None else {"ttl": piece.mark.ttl})
        part["prompt_cache_breakpoint"] = mark
    return part


def _output_text(piece: Piece) -> dict[str, Any]:
    return {"type": "output_text", "text": piece.text, "annotations": [], "logprobs": []}
