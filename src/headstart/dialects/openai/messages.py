"""Chat messages as they come over the wire."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from headstart.dialects.errors import invalid
from headstart.dialects.openai.cache_options import Breakpoint
from headstart.dialects.openai.values import unreadable
from headstart.text.chat import Message, ToolCall


class TextPart(Struct, tag_field="type", tag="text"):
    """`{"type":"text","text":…}`."""

    text: str
    prompt_cache_breakpoint: Breakpoint | None = None


class RefusalPart(Struct, tag_field="type", tag="refusal"):
    """`{"type":"refusal","refusal":…}`, which assistants' messages may hold."""

    refusal: str


class ImagePart(Struct, tag_field="type", tag="image_url"):
    """An image: known, so that it can be refused by name."""


class AudioPart(Struct, tag_field="type", tag="input_audio"):
    """A sound: known, so that it can be refused by name."""


class FilePart(Struct, tag_field="type", tag="file"):
    """A file: known, so that it can be refused by name."""


Part = TextPart | RefusalPart | ImagePart | AudioPart | FilePart
Content = str | list[Part]


class CalledFunction(Struct):
    """Name and JSON text of the arguments of one call."""

    name: str
    arguments: str


class Call(Struct):
    """A tool call that the client hands back."""

    id: str
    function: CalledFunction
    type: Literal["function"] = "function"


class SystemMessage(Struct, tag_field="role", tag="system"):
    """Instructions."""

    content: Content
    name: str | None = None


class DeveloperMessage(SystemMessage, tag_field="role", tag="developer"):
    """Instructions, under the name newer clients give them."""


class UserMessage(SystemMessage, tag_field="role", tag="user"):
    """What the user says."""


class AssistantMessage(Struct, tag_field="role", tag="assistant"):
    """What the model said; content may be absent beside tool calls."""

    content: Content | None = None
    name: str | None = None
    tool_calls: list[Call] | None = None
    function_call: object = None


class ToolMessage(Struct, tag_field="role", tag="tool"):
    """A tool's result."""

    content: Content
    tool_call_id: str


AnyMessage = SystemMessage | DeveloperMessage | UserMessage | AssistantMessage | ToolMessage
Messages = Annotated[list[AnyMessage], Meta(min_length=1)]


def to_message(message: AnyMessage, path: str) -> Message:
    """The canonical message. Raises ApiError 400 for parts no text model can read."""
    content = None if message.content is None else _text(message.content, f"{path}.content")
    match message:
        case ToolMessage():
            return Message("tool", content, tool_call_id=message.tool_call_id)
        case AssistantMessage():
            return _assistant(message, content, path)
        case DeveloperMessage():
            return Message("developer", content, name=message.name)
        case UserMessage():
            return Message("user", content, name=message.name)
        case SystemMessage():
            return Message("system", content, name=message.name)


def _assistant(message: AssistantMessage, content: str | None, path: str) -> Message:
    if message.function_call is not None:
        field = f"{path}.function_call"
        raise invalid(f"'{field}' is not supported: use 'tool_calls'.", field)
    if content is None and not message.tool_calls:
        field = f"{path}.content"
        raise invalid(f"'{field}' may only be null beside 'tool_calls'.", field, "invalid_value")
    calls = tuple(
        ToolCall(call.id, call.function.name, call.function.arguments)
        for call in message.tool_calls or ()
    )
    return Message("assistant", content, name=message.name, tool_calls=calls)


def _text(content: Content, path: str) -> str:
    """Parts are separate paragraphs of one message: a line break joins them."""
    if isinstance(content, str):
        return content
    return "\n".join(_part(part, f"{path}[{i}]") for i, part in enumerate(content))


def _part(part: Part, path: str) -> str:
    match part:
        case TextPart():
            return part.text
        case RefusalPart():
            return part.refusal
        case _:
            kind = msgspec.inspect.type_info(type(part))
            name = kind.tag if isinstance(kind, msgspec.inspect.StructType) else "this"
            raise unreadable(str(name), path)
