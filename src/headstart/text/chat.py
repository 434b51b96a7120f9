"""The canonical conversation every dialect parses into and every template renders from.

Messages are structs: a long conversation has thousands, and dataclasses are built much slower. The
collector passes over them (`gc=False`): nothing in a message leads back to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import Struct

Role = Literal["system", "developer", "user", "assistant", "tool"]


class ToolCall(Struct, frozen=True, gc=False):
    """One call by the assistant. `arguments` is JSON text as it was sent, never re-encoded."""

    id: str
    name: str
    arguments: str


class Message(Struct, frozen=True, gc=False):
    """One message. `tool_calls` belongs to assistants, `tool_call_id` to tool results."""

    role: Role
    content: str | None = None
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call; `parameters` is a JSON schema, key order kept."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] | None = None
    strict: bool = False
    """Whether arguments have to obey `parameters` also where a call is free."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is rendered into a prompt: the messages and the tools, in the client's order."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
