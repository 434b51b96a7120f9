"""A chat request's parts, in the order in which OpenAI renders them (rule O2)."""

from collections.abc import Iterator, Sequence

import msgspec

from headstart.contracts.prompt import Kind, Mark, digest
from headstart.dialects.chat import Part
from headstart.dialects.openai.messages import (
    AnyMessage,
    AssistantMessage,
    CalledFunction,
    Content,
    DeveloperMessage,
    RefusalPart,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from headstart.text.chat import Tool


def to_parts(messages: Sequence[AnyMessage], tools: Sequence[Tool]) -> tuple[Part, ...]:
    """Tools first, then every piece of every message."""
    parts = [tool_part(tool, f"tools[{index}]") for index, tool in enumerate(tools)]
    for index, message in enumerate(messages):
        parts += _message(message, index)
    return tuple(parts)


def tool_part(tool: Tool, path: str) -> Part:
    """A tool on offer; the order of its schema's keys counts."""
    said = msgspec.json.encode((tool.name, tool.description, tool.parameters))
    shown = (tool.name, tool.description) if tool.description else (tool.name,)
    return Part("tool", path, digest(b"tool", said), shown)


def _message(message: AnyMessage, index: int) -> Iterator[Part]:
    kind = _kind(message)
    role = f"{kind} {_distinct(message)}".encode()
    path = f"messages[{index}].content"
    if message.content is not None:
        for place, text, mark in _texts(message.content, path):
            marked = mark if kind != "assistant" else None  # Accepted and ignored (rule O19).
            yield Part(kind, place, digest(role, text.encode()), (text,), index, marked)
    if isinstance(message, AssistantMessage):
        for number, call in enumerate(message.tool_calls or ()):
            said = digest(b"tool_use", *(word.encode() for word in _words(call.function)))
            shown = (call.function.name, call.function.arguments)
            yield Part("tool_use", f"messages[{index}].tool_calls[{number}]", said, shown, index)


def _words(function: CalledFunction) -> tuple[str, str]:
    return function.name, function.arguments


def _kind(message: AnyMessage) -> Kind:
    match message:
        case ToolMessage():
            return "tool_result"
        case AssistantMessage():
            return "assistant"
        case DeveloperMessage():
            return "developer"
        case UserMessage():
            return "user"
        case SystemMessage():
            return "system"


def _distinct(message: AnyMessage) -> str:
    """What makes two messages of one role and text differ: it is rendered too."""
    return message.tool_call_id if isinstance(message, ToolMessage) else message.name or ""


def _texts(content: Content, path: str) -> Iterator[tuple[str, str, Mark | None]]:
    if isinstance(content, str):
        yield path, content, None
        return
    for index, part in enumerate(content):
        match part:
            case TextPart(text, wanted):
                mark = None if wanted is None else Mark(wanted.ttl)
                yield f"{path}[{index}]", text, mark
            case RefusalPart(refusal):
                yield f"{path}[{index}]", refusal, None
