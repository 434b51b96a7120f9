"""Conversations in our types, and the same in the shape `apply_chat_template` takes."""

import json
from typing import Any

from headstart.text.chat import Conversation, Message, Tool, ToolCall

WEATHER = Tool(
    "get_weather",
    "Weather at a place <now> & later, 東京 too",
    {
        "type": "object",
        "properties": {"unit": {"enum": ["c", "f"]}, "city": {"type": "string"}},
        "required": ["unit", "city"],
        "additionalProperties": False,
    },
)
CLOCK = Tool("clock", "What time it is", {"type": "object", "properties": {}})

PLAIN = Conversation(
    (
        Message("system", "Be brief."),
        Message("user", "  Hi, 你好 <b>&</b> 🙂 "),
        Message("assistant", "Hello!"),
        Message("user", "Bye"),
    )
)
NO_SYSTEM = Conversation((Message("user", "Hi"),))
WITH_TOOLS = Conversation((Message("user", "Weather?"),), (WEATHER, CLOCK))
CALLED = Conversation(
    (
        Message("system", "Be brief."),
        Message("user", "Weather in Zürich?"),
        Message(
            "assistant",
            tool_calls=(ToolCall("abcdefgh1", "get_weather", '{"unit": "c", "city": "Zürich"}'),),
        ),
        Message("tool", '{"degrees": 21}', tool_call_id="abcdefgh1"),
        Message("assistant", "21 °C."),
        Message("user", "Thanks"),
    ),
    (WEATHER, CLOCK),
)
ALL = {"plain": PLAIN, "no system": NO_SYSTEM, "tools": WITH_TOOLS, "called": CALLED}


def as_dicts(conversation: Conversation) -> dict[str, Any]:
    """Keyword arguments for `apply_chat_template`."""
    return {
        "conversation": [_message(message) for message in conversation.messages],
        "tools": [_tool(tool) for tool in conversation.tools] or None,
    }


def _message(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": message.content or ""}
    if message.tool_calls:
        fields["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.loads(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    return fields


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
