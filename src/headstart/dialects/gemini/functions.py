"""The functions a request declares, and how free the model is to call them."""

import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from headstart.dialects.chat import ToolChoice
from headstart.dialects.errors import invalid
from headstart.dialects.gemini.schema import Schema, to_json_schema
from headstart.text.chat import Tool as ChatTool

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
BAD_NAME = (
    "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, "
    "A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
)


class FunctionDeclaration(Struct, kw_only=True):
    """A function the client runs. What it answers with says nothing to the model's template."""

    name: str = ""
    description: str | None = None
    parameters: Schema | None = None
    parameters_json_schema: Any = None
    response: Any = None
    response_json_schema: Any = None
    behavior: str | None = None


class Tool(Struct, kw_only=True):
    """Functions; the tools that Google runs itself are known, to be refused by name."""

    function_declarations: list[FunctionDeclaration] | None = None
    google_search: Any = None
    google_search_retrieval: Any = None
    google_maps: Any = None
    code_execution: Any = None
    computer_use: Any = None
    url_context: Any = None
    file_search: Any = None
    retrieval: Any = None
    mcp_servers: Any = None


class FunctionCallingConfig(Struct):
    """`toolConfig.functionCallingConfig`."""

    mode: Literal["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"] = "AUTO"
    allowed_function_names: list[str] | None = None


class ToolConfig(Struct):
    """`toolConfig`; what tunes Google's own tools has nothing to tune."""

    function_calling_config: FunctionCallingConfig | None = None
    retrieval_config: Any = None
    include_server_side_tool_invocations: bool | None = None


def to_tools(tools: Sequence[Tool], config: ToolConfig | None, model: str) -> tuple[ChatTool, ...]:
    """The canonical tools. Raises ApiError 400 for kinds, names and repetitions that can't work."""
    strict = _calling(config).mode == "VALIDATED"
    seen: dict[str, ChatTool] = {}
    for index, tool in enumerate(tools):
        path = f"tools[{index}]"
        for name, value in msgspec.structs.asdict(tool).items():
            if name != "function_declarations" and value is not None:
                raise invalid(f"Tool '{name}' is not enabled for models/{model}", f"{path}.{name}")
        for number, declared in enumerate(tool.function_declarations or ()):
            where = f"{path}.function_declarations[{number}]"
            made = _to_tool(declared, where, strict=strict)
            if made.name in seen:
                raise invalid(f"Duplicate function declaration found: {made.name}", where)
            seen[made.name] = made
    return tuple(seen.values())


def _to_tool(declared: FunctionDeclaration, path: str, *, strict: bool) -> ChatTool:
    if not _NAME.fullmatch(declared.name):
        where = f"{path}.name"
        raise invalid(f"* GenerateContentRequest.{where}: {BAD_NAME}\n", where)
    parameters = declared.parameters_json_schema
    if declared.parameters is not None:
        if parameters is not None:
            message = f"'{path}': send 'parameters' or 'parameters_json_schema', not both."
            raise invalid(message, path)
        parameters = to_json_schema(declared.parameters, f"{path}.parameters")
    if parameters is not None and not isinstance(parameters, dict):
        where = f"{path}.parameters_json_schema"
        raise invalid(f"Invalid value at '{where}': it has to be a JSON object.", where)
    return ChatTool(declared.name, declared.description, parameters, strict)


def to_choice(config: ToolConfig | None, tools: Sequence[ChatTool]) -> ToolChoice:
    """How free the model is. Raises ApiError 400 for names that nobody declared."""
    calling = _calling(config)
    mode = calling.mode
    names = tuple(tool.name for tool in tools)
    allowed = tuple(calling.allowed_function_names or ())
    field = "tool_config.function_calling_config"
    if allowed and mode not in ("ANY", "VALIDATED"):
        message = "Please set allowed_function_names only when function calling mode is ANY."
        raise invalid(message, field)
    for name in allowed:
        if name not in names:
            message = f"'{field}.allowed_function_names': '{name}' is no declared function."
            raise invalid(message, field)
    if mode == "ANY":
        if not names:
            raise invalid("Function calling mode is ANY, but no function is declared.", field)
        return ToolChoice("required", allowed or names)
    return ToolChoice("none" if mode == "NONE" or not names else "auto", allowed or names)


def _calling(config: ToolConfig | None) -> FunctionCallingConfig:
    return (config and config.function_calling_config) or FunctionCallingConfig()
