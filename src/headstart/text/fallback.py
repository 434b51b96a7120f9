"""Tools for models whose template knows none: the Hermes format, written into ordinary messages.

Nothing a client sends is dropped in silence. The tools become the first section of the system
message (a new one where there is none), an assistant's calls become `<tool_call>` text in its
message, and tool results become `<tool_response>` text in a user message, consecutive results
sharing one, so that roles still alternate. Tools come first because they change least: a prefix of
them survives another system text, as the caching rules of Anthropic and OpenAI have it.
"""

import json
from collections.abc import Iterator

from msgspec.structs import replace

from headstart.text.chat import Conversation, Message, Tool

_INTRODUCTION = (
    "# Tools\n\n"
    "You may call one or more of the functions described inside <tools></tools>, one JSON object "
    "per line:\n<tools>\n"
)
_INSTRUCTION = (
    "\n</tools>\n\n"
    "To call a function, answer with a JSON object inside <tool_call></tool_call>:\n"
    '<tool_call>\n{"name": <function name>, "arguments": <its arguments, a JSON object>}\n'
    "</tool_call>"
)


def without_tools(conversation: Conversation) -> Conversation:
    """The same conversation in messages that any template can render."""
    messages = tuple(_as_text(conversation.messages))
    if not conversation.tools:
        return Conversation(messages)
    section = tools_section(conversation.tools)
    if messages and messages[0].role in ("system", "developer"):
        first = replace(
            messages[0], content="\n\n".join(filter(None, (section, messages[0].content)))
        )
        return Conversation((first, *messages[1:]))
    return Conversation((Message("system", section), *messages))


def tools_section(tools: tuple[Tool, ...]) -> str:
    """The system prompt's part that presents the tools, in the client's order."""
    return _INTRODUCTION + "\n".join(_describe(tool) for tool in tools) + _INSTRUCTION


def _describe(tool: Tool) -> str:
    function: dict[str, object] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.parameters is not None:
        function["parameters"] = tool.parameters
    return json.dumps({"type": "function", "function": function}, ensure_ascii=False, default=dict)


def _as_text(messages: tuple[Message, ...]) -> Iterator[Message]:
    results: list[str] = []
    for message in messages:
        if message.role == "tool":
            results.append(f"<tool_response>\n{message.content or ''}\n</tool_response>")
            continue
        if results:
            yield Message("user", "\n".join(results))
            results = []
        yield _calls_as_text(message) if message.tool_calls else message
    if results:
        yield Message("user", "\n".join(results))


def _calls_as_text(message: Message) -> Message:
    """Arguments stay as the model wrote them: this text repeats what was generated (TURN-05)."""
    calls = (
        f'<tool_call>\n{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}\n'
        "</tool_call>"
        for call in message.tool_calls
    )
    content = "\n".join(filter(None, (message.content, *calls)))
    return replace(message, content=content, tool_calls=())
