"""What a response's prompt is made of: instructions, the turns before, tools and input."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headstart.dialects.body import convert
from headstart.dialects.chat import Part, ToolChoice
from headstart.dialects.errors import invalid
from headstart.dialects.openai.parts import text_part, tool_part
from headstart.dialects.openai.prompt_settings import EFFORTS, VERBOSITIES
from headstart.dialects.openai.responses.fields import PromptFields, Reasoning, Text
from headstart.dialects.openai.responses.said import Said, check_calls, read_input
from headstart.dialects.openai.responses.text_format import PATH, read_schema
from headstart.dialects.openai.responses.tools import (
    FunctionTool,
    read_choice,
    read_tools,
    to_tool,
)
from headstart.dialects.openai.responses.turn import Past
from headstart.dialects.openai.values import choose
from headstart.text.chat import Conversation, Message

SUMMARIES = ("auto", "concise", "detailed")
"""Of what a model thought; this one doesn't, so there is none."""


@dataclass(frozen=True, slots=True)
class ResponsePrompt:
    """A prompt, checked."""

    fields: PromptFields
    model: str
    conversation: Conversation
    parts: tuple[Part, ...]
    tools: tuple[FunctionTool, ...]
    choice: ToolChoice
    schema: str | None
    said: Said
    """What the request adds to the turns before it."""
    before: int
    """The messages of those turns."""


def read_prompt(raw: Mapping[str, Any], past: Past, unique: str) -> ResponsePrompt:
    """`raw`: the body's fields that make the prompt. Raises ApiError 400 and 404."""
    fields = convert(raw, PromptFields)
    if fields.model is None:
        raise invalid("Missing required parameter: 'model'.", "model", "missing_required_parameter")
    _check(fields)
    tools = tuple(read_tools(fields.tools or (), fields.model))
    known = tuple(to_tool(tool) for tool in tools)
    choice = read_choice(fields.tool_choice, known, fields.model)
    schema = read_schema(fields.text.format if fields.text else None)
    if schema is not None and choice.mode == "required":
        message = f"'{PATH}' and a forced 'tool_choice' can't both shape one answer."
        raise invalid(message, PATH)
    previous = fields.previous_response_id
    turns = () if previous is None else past.chain(previous)
    messages = [message for turn in turns for message in turn.said.messages]
    parts = [part for turn in turns for part in turn.said.parts]
    before = len(messages)
    said = read_input(fields.input or (), first=before, ids=f"{unique}i", find=past.item)
    messages += said.messages
    check_calls(messages)
    opening, shown = _instructions(fields.instructions)
    return ResponsePrompt(
        fields=fields,
        model=fields.model,
        conversation=Conversation((*opening, *messages), known),
        parts=(
            *(tool_part(tool, f"tools[{index}]") for index, tool in enumerate(known)),
            *shown,
            *parts,
            *said.parts,
        ),
        tools=tools,
        choice=choice,
        schema=schema,
        said=said,
        before=before,
    )


def _instructions(text: str | None) -> tuple[list[Message], list[Part]]:
    """They come first, and those of the turns before don't come with them."""
    if not text:
        return [], []
    return [Message("system", text)], [text_part("system", text, "instructions", -1)]


def _check(fields: PromptFields) -> None:
    if not fields.input and fields.previous_response_id is None:
        message = (
            "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' "
            "must be provided."
        )
        raise invalid(message, None, "missing_required_parameter")
    if fields.truncation == "auto":
        message = "Prompts are never cut: send 'truncation' 'disabled', or a shorter input."
        raise invalid(message, "truncation", "unsupported_value")
    choose(fields.truncation, ("auto", "disabled"), "truncation")
    reasoning, text = fields.reasoning or Reasoning(), fields.text or Text()
    choose(reasoning.effort, EFFORTS, "reasoning.effort")
    choose(text.verbosity, VERBOSITIES, "text.verbosity")
    choose(reasoning.context, ("auto", "current_turn", "all_turns"), "reasoning.context")
    choose(reasoning.summary, SUMMARIES, "reasoning.summary")
    choose(reasoning.generate_summary, SUMMARIES, "reasoning.generate_summary")
    if reasoning.mode not in (None, "standard"):
        message = "Unsupported parameter: 'reasoning.mode' is not supported with this model."
        raise invalid(message, "reasoning.mode", "unsupported_parameter")
