"""A chat request's parts, in the order in which OpenAI renders them (rule O2)."""

from collections.abc import Iterator, Sequence

import msgspec

from headstart.contracts.prompt import Kind, Mark, digest
from headstart.dialects.chat import Part
from headstart.dialects.openai.cache_options import to_mark
from headstart.dialects.openai.messages import (
    AnyMessage,
    AssistantMessage,
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
    distinct = _distinct(message)
    path = f"messages[{index}].content"
    if message.content is not None:
        for place, text, mark in _texts(message.content, path):
            marked = mark if kind != "assistant" else None  # Accepted and ignored (rule O19).
            yield text_part(kind, text, place, index, distinct=distinct, mark=marked)
    if isinstance(message, AssistantMessage):
        for number, call in enumerate(message.tool_calls or ()):
            place = f"messages[{index}].tool_calls[{number}]"
            yield call_part(call.function.name, call.function.arguments, place, index)


def text_part(
    kind: Kind, text: str, path: str, message: int, *, distinct: str = "", mark: Mark | None = None
) -> Part:
    """A piece of a message. `distinct`: what else makes it differ from one of the same text."""
    said = digest(f"{kind} {distinct}".encode(), text.encode())
    return Part(kind, path, said, (text,), message, mark)


def call_part(name: str, arguments: str, path: str, message: int) -> Part:
    """A tool call that was made."""
    said = digest(b"tool_use", name.encode(), arguments.encode())
    return Part("tool_use", path, said, (name, arguments), message)


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
                place = f"{path}[{index}]"
                yield place, text, to_mark(wanted, place)
            case RefusalPart(refusal):
                yield f"{path}[{index}]", refusal, None
