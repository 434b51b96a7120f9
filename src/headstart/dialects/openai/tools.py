"""The tools a request offers, and how free the model is to call them."""

import re
from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from headstart.dialects.chat import ToolChoice
from headstart.dialects.errors import invalid
from headstart.text.chat import Tool

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class Function(Struct):
    """`tools[].function`."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class FunctionTool(Struct, tag_field="type", tag="function"):
    """A function the client runs."""

    function: Function


class CustomTool(Struct, tag_field="type", tag="custom"):
    """A tool with free-form input: known, so that it can be refused by name."""


AnyTool = FunctionTool | CustomTool


class FunctionName(Struct):
    """`{"name":…}`."""

    name: str


class NamedTool(Struct, tag_field="type", tag="function"):
    """`tool_choice` that names one function."""

    function: FunctionName


class AllowedNames(Struct):
    """Some of the tools, and whether one of them has to be called."""

    mode: Literal["auto", "required"]
    tools: list[NamedTool]


class AllowedTools(Struct, tag_field="type", tag="allowed_tools"):
    """`tool_choice` that narrows the tools without changing the prompt."""

    allowed_tools: AllowedNames


Choice = Literal["none", "auto", "required"] | NamedTool | AllowedTools


def to_tools(tools: Sequence[AnyTool]) -> tuple[Tool, ...]:
    """The canonical tools. Raises ApiError 400 for kinds, names and repetitions that can't work."""
    return different([_tool(tool, f"tools[{i}]") for i, tool in enumerate(tools)], ".function")


def _tool(tool: AnyTool, path: str) -> Tool:
    if not isinstance(tool, FunctionTool):
        field = f"{path}.type"
        raise invalid(f"'{field}': only tools of type 'function' are supported.", field)
    function = tool.function
    strict = bool(function.strict)
    return Tool(function.name, function.description, function.parameters, strict)


def different(tools: Sequence[Tool], within: str = "") -> tuple[Tool, ...]:
    """Tools with good names, each its own. `within`: where a tool has its name. Raises ApiError."""
    seen: set[str] = set()
    for i, tool in enumerate(tools):
        field = f"tools[{i}]{within}.name"
        if not _NAME.fullmatch(tool.name):
            message = f"Invalid '{field}': '{tool.name}' is not 1 to 64 of a-z A-Z 0-9 _ -."
            raise invalid(message, field, "invalid_value")
        if tool.name in seen:
            raise invalid(f"Invalid '{field}': '{tool.name}' comes twice.", field)
        seen.add(tool.name)
    return tuple(tools)


def to_choice(
    choice: Choice | None, tools: tuple[Tool, ...], *, allowed: str = "tool_choice.allowed_tools"
) -> ToolChoice:
    """Resolve `tool_choice` against the tools. Raises ApiError 400 where it names none of them.

    `allowed`: where the mode and the tools of an `allowed_tools` are.
    """
    names = tuple(tool.name for tool in tools)
    if choice is None:
        return ToolChoice("auto" if tools else "none", names)
    if choice != "none" and not tools:
        message = "'tool_choice' is only allowed when 'tools' are specified."
        raise invalid(message, "tool_choice")
    match choice:
        case NamedTool():
            return ToolChoice("required", _known((choice,), names, "tool_choice"))
        case AllowedTools():
            return _allowed(choice.allowed_tools, names, allowed)
        case _:
            return ToolChoice(choice, names)


def _allowed(allowed: AllowedNames, names: tuple[str, ...], field: str) -> ToolChoice:
    return ToolChoice(allowed.mode, _known(allowed.tools, names, f"{field}.tools"))


def _known(chosen: Sequence[NamedTool], names: tuple[str, ...], field: str) -> tuple[str, ...]:
    for tool in chosen:
        if tool.function.name not in names:
            message = f"Tool choice '{tool.function.name}' not found in 'tools' parameter."
            raise invalid(message, field, "invalid_value")
    if not chosen:
        raise invalid(f"'{field}' must name at least one tool.", field, "invalid_value")
    return tuple(tool.function.name for tool in chosen)
