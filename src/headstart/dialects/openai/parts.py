"""A chat request's parts, in the order in which OpenAI renders them (rule O2)."""

from collections.abc import Iterator, Mapping, Sequence

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

KINDS: Mapping[type, Kind] = {
    SystemMessage: "system",
    DeveloperMessage: "developer",
    UserMessage: "user",
    AssistantMessage: "assistant",
    ToolMessage: "tool_result",
}


def to_parts(messages: Sequence[AnyMessage], tools: Sequence[Tool]) -> tuple[Part, ...]:
    """Tools first, then every piece of every message."""
    parts = [tool_part(tool, f"tools[{index}]") for index, tool in enumerate(tools)]
    for index, message in enumerate(messages):
        if message.content is not None:
            parts += _texts(message, message.content, index)
        if isinstance(message, AssistantMessage):
            for number, call in enumerate(message.tool_calls or ()):
                place = f"messages[{index}].tool_calls[{number}]"
                parts.append(call_part(call.function.name, call.function.arguments, place, index))
    return tuple(parts)


def tool_part(tool: Tool, path: str) -> Part:
    """A tool on offer; the order of its schema's keys counts."""
    said = msgspec.json.encode((tool.name, tool.description, tool.parameters))
    shown = (tool.name, tool.description) if tool.description else (tool.name,)
    return Part("tool", digest("tool", said), -1, path, shown=shown)


def text_part(
    kind: Kind, text: str, path: str, message: int, *, distinct: str = "", mark: Mark | None = None
) -> Part:
    """A piece of a message. `distinct`: what else makes it differ from one of the same text."""
    return Part(kind, digest(kind, distinct, text), message, path, mark, shown=(text,))


def call_part(name: str, arguments: str, path: str, message: int) -> Part:
    """A tool call that was made."""
    said = digest("tool_use", name, arguments)
    return Part("tool_use", said, message, path, shown=(name, arguments))


def _texts(message: AnyMessage, content: Content, index: int) -> Iterator[Part]:
    kind = KINDS[type(message)]
    # What makes two messages of one role and text differ: it is rendered too.
    distinct = message.tool_call_id if isinstance(message, ToolMessage) else message.name or ""
    path = f"messages[{index}].content"
    if isinstance(content, str):
        yield text_part(kind, content, path, index, distinct=distinct)
        return
    for number, part in enumerate(content):
        place = f"{path}[{number}]"
        match part:
            case TextPart(text, wanted):
                mark = to_mark(wanted, place)
                if kind == "assistant":
                    mark = None  # Accepted and ignored (rule O19).
                yield text_part(kind, text, place, index, distinct=distinct, mark=mark)
            case RefusalPart(refusal):
                yield text_part(kind, refusal, place, index, distinct=distinct)
