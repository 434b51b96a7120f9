"""The tools a request offers, and how free the model is to call them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from headstart.contracts.prompt import Mark
from headstart.dialects.anthropic.blocks import CacheControl, to_mark
from headstart.dialects.anthropic.check import Strict, wrong
from headstart.dialects.chat import ToolChoice
from headstart.dialects.errors import invalid
from headstart.text.chat import Tool

PATTERN = "^[a-zA-Z0-9_-]{1,128}$"
_NAME = re.compile(PATTERN)


class CustomTool(Strict):
    """A tool the client runs."""

    name: str
    input_schema: dict[str, Any]
    description: str | None = None
    type: str | None = None
    cache_control: CacheControl | None = None
    strict: bool | None = None
    eager_input_streaming: bool | None = None
    defer_loading: bool | None = None
    input_examples: list[dict[str, Any]] | None = None
    allowed_callers: list[str] | None = None


class Auto(Strict, tag_field="type", tag="auto", omit_defaults=True):
    """The model decides."""

    disable_parallel_tool_use: bool = False


class AnyOf(Strict, tag_field="type", tag="any", omit_defaults=True):
    """Some tool has to be called."""

    disable_parallel_tool_use: bool = False


class Named(Strict, tag_field="type", tag="tool", omit_defaults=True):
    """This tool has to be called."""

    name: str
    disable_parallel_tool_use: bool = False


class NoTool(Strict, tag_field="type", tag="none"):
    """No tool may be called."""


Choice = Auto | AnyOf | Named | NoTool


def check_kinds(fields: Mapping[str, Any]) -> None:
    """Raises ApiError 400 for Anthropic's own tools: they have other fields, and nobody runs them.

    `fields` is the body, unchecked.
    """
    tools = fields.get("tools")
    for number, tool in enumerate(tools if isinstance(tools, list) else ()):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind not in (None, "custom"):
            raise wrong(
                f"tools.{number}",
                f"Input tag '{kind}' found using 'type' does not match any of the expected tags: "
                "'custom'",
            )


def to_tools(tools: Sequence[CustomTool]) -> list[tuple[Tool, Mark | None]]:
    """The canonical tools and their marks. Raises ApiError 400 for what can't work."""
    seen: set[str] = set()
    checked = []
    for number, tool in enumerate(tools):
        path = f"tools.{number}.custom"
        if not _NAME.fullmatch(tool.name):
            raise wrong(f"{path}.name", f"String should match pattern '{PATTERN}'")
        if tool.name in seen:
            raise invalid("tools: Tool names must be unique.", "tools")
        if tool.input_schema.get("type") != "object":
            raise wrong(f"{path}.input_schema.type", "Input should be 'object'")
        _refuse(tool, path)
        seen.add(tool.name)
        mark = to_mark(tool.cache_control, f"tools.{number}")
        strict = bool(tool.strict)
        checked.append((Tool(tool.name, tool.description, tool.input_schema, strict), mark))
    return checked


def to_choice(choice: Choice | None, tools: Sequence[Tool]) -> ToolChoice:
    """Resolve `tool_choice`. Raises ApiError 400 where it names none of the tools."""
    names = tuple(tool.name for tool in tools)
    match choice:
        case NoTool():
            return ToolChoice("none", names)
        case Named(name) if name not in names:
            raise invalid(f"Tool '{name}' not found in provided tools", "tool_choice")
        case Named(name):
            return ToolChoice("required", (name,))
        case AnyOf() if not names:
            raise wrong("tool_choice", "`any` may only be specified while providing `tools`")
        case AnyOf():
            return ToolChoice("required", names)
        case _:
            return ToolChoice("auto" if names else "none", names)


def is_parallel(choice: Choice | None) -> bool:
    """Whether the model may call several tools at once."""
    match choice:
        case Auto(alone) | AnyOf(alone) | Named(_, alone):
            return not alone
        case _:
            return True


def _refuse(tool: CustomTool, path: str) -> None:
    if tool.defer_loading:
        raise wrong(f"{path}.defer_loading", "This server has no tool search: send false")
    if tool.input_examples:
        problem = "This server does not show examples: put them into the description"
        raise wrong(f"{path}.input_examples", problem)
    if tool.allowed_callers not in (None, ["direct"]):
        problem = "This server runs no code that could call tools: send ['direct']"
        raise wrong(f"{path}.allowed_callers", problem)
