"""The tools of a response: functions, which the client runs; what OpenAI would run is refused."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from headstart.dialects.body import convert
from headstart.dialects.chat import ToolChoice
from headstart.dialects.errors import ApiError, invalid
from headstart.dialects.openai.tools import (
    AllowedNames,
    AllowedTools,
    Choice,
    FunctionName,
    NamedTool,
    different,
    to_choice,
)
from headstart.dialects.openai.values import invalid_value, kind_of
from headstart.text.chat import Tool

HOSTED = frozenset(
    {
        "apply_patch",
        "code_interpreter",
        "computer",
        "computer_use_preview",
        "file_search",
        "image_generation",
        "local_shell",
        "mcp",
        "programmatic_tool_calling",
        "shell",
        "tool_search",
        "web_search",
        "web_search_2025_08_26",
        "web_search_preview",
        "web_search_preview_2025_03_11",
    }
)
OURS = frozenset({"custom", "namespace"})
"""Run by the client, but with input that is no JSON, or in groups."""
MODES = ("none", "auto", "required")


class FunctionTool(Struct, forbid_unknown_fields=True):
    """A function the client runs."""

    type: str
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    allowed_callers: list[str] | None = None
    output_schema: dict[str, Any] | None = None
    defer_loading: bool | None = None
    asynchronous: bool | None = field(name="async", default=None)

    def echo(self) -> dict[str, Any]:
        """As the response repeats it."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "strict": bool(self.strict),
        }


class Named(Struct, forbid_unknown_fields=True):
    """`{"type":"function","name":…}`."""

    type: Literal["function"]
    name: str


class Allowed(Struct, forbid_unknown_fields=True):
    """`tool_choice` that narrows the tools without changing the prompt."""

    type: str
    mode: Literal["auto", "required"]
    tools: list[Named]


def read_tools(tools: Sequence[Mapping[str, Any]], model: str) -> list[FunctionTool]:
    """Raises ApiError 400 for tools that can't work here."""
    read = [_tool(tool, f"tools[{index}]", model) for index, tool in enumerate(tools)]
    different([Tool(tool.name) for tool in read])
    return read


def _tool(tool: Mapping[str, Any], path: str, model: str) -> FunctionTool:
    kind = kind_of(tool, path)
    if kind in HOSTED:
        raise hosted(kind, model)
    if kind in OURS:
        raise invalid(f"Tools of type '{kind}' are not supported with {model}.", f"{path}.type")
    if kind is not None and kind != "function":
        raise invalid_value(kind, ("function",), f"{path}.type")
    read = convert(tool, FunctionTool, path)
    beyond = {
        "defer_loading": read.defer_loading,
        "async": read.asynchronous,
        "allowed_callers": read.allowed_callers not in (None, ["direct"]),
    }
    for name, asked in beyond.items():
        if asked:
            message = f"Unsupported parameter: '{path}.{name}' is not supported with this model."
            raise invalid(message, f"{path}.{name}", "unsupported_parameter")
    return read


def hosted(kind: str, model: str) -> ApiError:
    """A tool that OpenAI runs itself."""
    return invalid(f"Hosted tool '{kind}' is not supported with {model}.", "tools")


def to_tool(tool: FunctionTool) -> Tool:
    """The canonical tool."""
    return Tool(tool.name, tool.description, tool.parameters, bool(tool.strict))


def read_choice(
    choice: str | Mapping[str, Any] | None, tools: tuple[Tool, ...], model: str
) -> ToolChoice:
    """Resolve `tool_choice` against the tools. Raises ApiError 400."""
    return to_choice(_choice(choice, model), tools, allowed="tool_choice")


def _choice(choice: str | Mapping[str, Any] | None, model: str) -> Choice | None:
    match choice:
        case None | "none" | "auto" | "required":
            return choice
        case str():
            raise invalid_value(choice, MODES, "tool_choice")
    kind = kind_of(choice, "tool_choice")
    if kind in HOSTED:
        raise hosted(kind, model)
    if kind == "allowed_tools":
        allowed = convert(choice, Allowed, "tool_choice")
        names = [NamedTool(FunctionName(tool.name)) for tool in allowed.tools]
        return AllowedTools(AllowedNames(allowed.mode, names))
    return NamedTool(FunctionName(convert(choice, Named, "tool_choice").name))
