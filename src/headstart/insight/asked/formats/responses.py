"""OpenAI's Responses.

Order: tools, instructions, then the items as they come (rule O2). A turn of the model is one
message: its text and the calls behind it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headstart.contracts.prompt import Kind
from headstart.insight.asked.formats.chat import ROLES
from headstart.insight.asked.formats.contents import Contents
from headstart.insight.asked.formats.openai import (
    call_piece,
    part_piece,
    to_settings,
    to_wishes,
    tool_piece,
)
from headstart.insight.asked.formats.values import an_object, fields, objects, text, wrong
from headstart.insight.asked.piece import Address, Piece, plain_json


def read(body: Mapping[str, Any]) -> Contents:
    """Raises Unreadable. What `previous_response_id` or a stored prompt adds isn't in the body."""
    pieces = [tool_piece(tool, at) for at, tool in objects(body.get("tools"), ("tools",))]
    instructions = body.get("instructions")
    said = _Said()
    if isinstance(instructions, str) and instructions:
        pieces.append(Piece("system", ("instructions",), instructions, -1, "system"))
    elif isinstance(instructions, list):
        said.read(instructions, ("instructions",))
    asked = body.get("input")
    if isinstance(asked, str):
        said.pieces.append(Piece("user", ("input",), asked, said.messages, "user"))
    elif asked is not None:
        said.read(asked, ("input",))
    shape = fields(body.get("text"))
    settings = to_settings(
        body,
        text_format=shape.get("format"),
        effort=fields(body.get("reasoning")).get("effort"),
        verbosity=shape.get("verbosity"),
    )
    partition = text(body.get("prompt_cache_key"))
    return Contents([*pieces, *said.pieces], settings, to_wishes(body), partition)


@dataclass(slots=True)
class _Said:
    """Reads items in their order."""

    pieces: list[Piece] = field(default_factory=list)
    messages: int = 0
    answering: bool = False
    """Whether the last message is the model's, so that a call belongs to it."""

    def read(self, items: Any, address: Address) -> None:
        """Every item of a list. Raises Unreadable."""
        if not isinstance(items, list):
            raise wrong(address, "a text or a list", items)
        for index, item in enumerate(items):
            self._item(an_object(item, (*address, index)), (*address, index))

    def _item(self, item: Mapping[str, Any], address: Address) -> None:
        shape = text(item.get("type"))
        if shape in ("", "message") and "role" in item:
            self._message(item, address)
        elif shape in ("function_call", "custom_tool_call"):
            self._open("assistant")
            self.pieces.append(call_piece(item, address, self.messages - 1, "assistant"))
        elif shape in ("function_call_output", "custom_tool_call_output"):
            self._begin("tool")
            id = text(item.get("call_id"))
            self._content(item.get("output"), "tool_result", (*address, "output"), "tool", id)
        else:
            self._other(item, shape, address)

    def _message(self, item: Mapping[str, Any], address: Address) -> None:
        role = item.get("role")
        if not isinstance(role, str):
            raise wrong((*address, "role"), "a text", role)
        self._begin(role)
        self._content(item.get("content"), ROLES.get(role, "user"), (*address, "content"), role)

    def _other(self, item: Mapping[str, Any], shape: str, address: Address) -> None:
        """Thoughts, and what OpenAI's own tools did."""
        kind: Kind = "assistant"
        if shape == "reasoning":
            kind = "thinking"
        elif shape.endswith("_output"):
            kind = "tool_result"
        elif shape.endswith("_call"):
            kind = "tool_use"
        if kind == "tool_result":
            self._begin("tool")
        else:
            self._open("assistant")
        self.pieces.append(
            Piece(
                kind,
                address,
                plain_json(item),
                self.messages - 1,
                "tool" if kind == "tool_result" else "assistant",
                text(item.get("name")),
                markable=kind != "thinking",
                json=True,
            )
        )

    def _content(self, content: Any, kind: Kind, address: Address, role: str, id: str = "") -> None:
        message = self.messages - 1
        if content is None:
            return
        if not isinstance(content, list):
            self.pieces.append(part_piece(content, kind, address, message, role, id=id))
            return
        for number, part in enumerate(content):
            place = (*address, number)
            self.pieces.append(part_piece(part, kind, place, message, role, id=id))

    def _begin(self, role: str) -> None:
        """A new message."""
        self.messages += 1
        self.answering = role == "assistant"

    def _open(self, role: str) -> None:
        """The model's message, a new one where the last isn't its."""
        if not self.answering:
            self._begin(role)
