"""Lark grammars (llguidance's dialect) of valid tool calls, and of what may be said beside them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from headstart.text.chat import Tool

_LAYOUT: Mapping[str, Any] = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
}
"""One spelling per value: a small model cannot get lost in white space, and the text is what
`json.dumps` would write, so any client's re-encoding still extends the prompt."""


_OPENING = frozenset(
    {
        *("additionalProperties", "patternProperties", "unevaluatedProperties"),
        *("allOf", "anyOf", "oneOf", "if", "$ref"),
    }
)
"""Beside these, what else an object may have is said elsewhere."""


PROSE = "PROSE"
"""Any text that opens no call."""
ANY_TEXT = r"(.|\n)*"


def chosen_tools(tools: Sequence[Tool], names: Sequence[str] | None) -> list[Tool]:
    """The tools that may be called, in the client's order. Raises ValueError naming a stranger."""
    known = {tool.name for tool in tools}
    for name in names or ():
        if name not in known:
            raise ValueError(f"tool_choice names {name!r}, which is not among the tools")
    chosen = [tool for tool in tools if names is None or tool.name in names]
    if not chosen:
        raise ValueError("a tool call is required, but there is no tool to call")
    return chosen


def literal(text: str) -> str:
    """`text` as a Lark string."""
    return json.dumps(text)


def prose_rules(mark: str, text: str = ANY_TEXT) -> str:
    """PROSE, and the rule `opened`: prose through the first `mark`, which opens a call.

    `text`: a regular expression of what may be said. Lazy, as llguidance's guide has it for tools:
    what is said ends at the mark and can't go on past it.
    """
    return f"opened[lazy]: {PROSE} {mark}\n{PROSE}: /{text}/\n"


def instead(schema: str | None) -> str:
    """What a rule may be besides: JSON of this schema, or nothing."""
    return "" if schema is None else f" | otherwise\notherwise: %json {schema}"


def call_rules(
    tools: Sequence[Tool], arguments_key: str, begin: str, end: str, *, forced: bool
) -> str:
    """The rule `call`: one JSON call of one of the tools between `begin` and `end`.

    Where calls aren't `forced`, arguments of tools that aren't strict are any object.
    """
    lines = ["call: " + " | ".join(f"call_{index}" for index in range(len(tools)))]
    for index, tool in enumerate(tools):
        name, key = json.dumps(tool.name), json.dumps(arguments_key)
        # In the words that JSON is read in: else what is no call is taken for one up to here.
        words = (f"{begin}{{", '"name"', ": ", name, ", ", key, ": ")
        head = " ".join(map(literal, words))
        lines.append(
            f"call_{index}: {head} arguments_{index} {literal('}' + end)}\n"
            f"arguments_{index}: %json {json.dumps(_schema(tool, forced))}"
        )
    return "\n".join(lines) + "\n"


def _schema(tool: Tool, forced: bool) -> dict[str, Any]:
    """The tool's own schema, which always describes an object; without one, the empty object."""
    if not (forced or tool.strict):
        return {"type": "object"}
    parameters: Mapping[str, Any] = {"properties": {}, "additionalProperties": False}
    if tool.parameters is not None:
        parameters = _closed(json.loads(json.dumps(tool.parameters, default=dict)))
    return {**parameters, "type": "object", "x-guidance": _LAYOUT}


def _closed(schema: Any) -> Any:
    """The same, but an object that names its properties has no others unless it speaks of them.

    JSON Schema lets anything in; a small model would go on making things up.
    """
    if not isinstance(schema, dict):
        return schema
    closed = dict(schema)
    for name in ("properties", "$defs", "definitions"):
        if isinstance(schema.get(name), dict):
            closed[name] = {key: _closed(value) for key, value in schema[name].items()}
    if "items" in schema:
        closed["items"] = _closed(schema["items"])
    if isinstance(schema.get("anyOf"), list):
        closed["anyOf"] = [_closed(choice) for choice in schema["anyOf"]]
    if "properties" in schema and not _OPENING & schema.keys():
        closed["additionalProperties"] = False
    return closed
