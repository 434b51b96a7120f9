"""What a prompt is made of, in a request's body or in a cached content."""

from dataclasses import dataclass

from headstart.dialects.chat import Part, ToolChoice
from headstart.dialects.gemini.content import Content
from headstart.dialects.gemini.functions import Tool, ToolConfig, to_choice, to_tools
from headstart.dialects.gemini.turns import read_turns
from headstart.dialects.openai.parts import tool_part
from headstart.text.chat import Conversation


@dataclass(frozen=True, slots=True)
class PromptFields:
    """Instructions, tools and contents, as they came."""

    system_instruction: Content | None
    tools: tuple[Tool, ...]
    tool_config: ToolConfig | None
    contents: tuple[tuple[str, Content], ...]
    """Each with its path."""

    def followed_by(self, contents: tuple[tuple[str, Content], ...]) -> "PromptFields":
        """The same, with more contents behind it."""
        return PromptFields(
            self.system_instruction, self.tools, self.tool_config, self.contents + contents
        )


@dataclass(frozen=True, slots=True)
class ReadPrompt:
    """The same in canonical form."""

    conversation: Conversation
    parts: tuple[Part, ...]
    tool_choice: ToolChoice


def read_prompt(fields: PromptFields, model: str) -> ReadPrompt:
    """Raises ApiError 400 for what no text model can read, and what doesn't fit together.

    Its parts are in Gemini's order: instructions, tools, contents.
    """
    tools = to_tools(fields.tools, fields.tool_config, model)
    messages, parts = read_turns(model, fields.system_instruction, fields.contents)
    instructions = tuple(part for part in parts if part.kind == "system")
    declared = tuple(tool_part(tool, f"tools[{index}]") for index, tool in enumerate(tools))
    return ReadPrompt(
        Conversation(messages, tools),
        (*instructions, *declared, *parts[len(instructions) :]),
        to_choice(fields.tool_config, tools),
    )


def numbered(
    contents: list[Content] | None, path: str = "contents"
) -> tuple[tuple[str, Content], ...]:
    """Contents with their paths."""
    return tuple((f"{path}[{index}]", each) for index, each in enumerate(contents or ()))
