"""Tools that change, come, go, or stand elsewhere."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tests.insight.labelled.case import DIALECTS, Case, Dialect
from tests.insight.labelled.draft import Draft, Tool
from tests.insight.labelled.scene import Scene, fan, planted, scene, session

from headstart.insight.causes import Cause

TOOLS = 5


def tool_cases(seed: int) -> Iterator[Case]:
    """All of them, for all dialects."""
    for dialect in DIALECTS:
        yield _shuffled(seed, dialect)
        yield _swapped(seed, dialect)
        yield _removed(seed, dialect)
        yield _added(seed, dialect)
        yield _none_left(seed, dialect)
        yield _reworded(seed, dialect)
        yield _other_schema(seed, dialect)
        yield _keys_turned(seed, dialect, "schema-keys")
        yield _keys_turned(seed, dialect, "property-order")


def _shuffled(seed: int, dialect: Dialect) -> Case:
    """As from a set or a dictionary that is filled anew each time."""
    of = scene(seed, "tools shuffled", dialect)
    twin = session(of, 3, tools=TOOLS, opening=3)
    drafts: list[Draft] = []
    for number, draft in enumerate(twin):
        tools = list(draft.tools[number:] + draft.tools[:number])
        drafts.append(replace(draft, tools=tuple(tools)))
    return planted(of, Cause.TOOL_ORDER, "turned", drafts, twin, at=("tool", 0), place="tool")


def _swapped(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "tools swapped", dialect)
    twin = session(of, 3, tools=TOOLS, opening=3)
    first, *others = twin
    at = of.rng.randrange(1, TOOLS - 1)
    tools = list(first.tools)
    tools[at], tools[at + 1] = tools[at + 1], tools[at]
    drafts = [first, others[0], replace(others[1], tools=tuple(tools))]
    return planted(of, Cause.TOOL_ORDER, "two-swapped", drafts, twin, at=("tool", at), place="tool")


def _removed(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "tool removed", dialect)
    twin = session(of, 3, tools=TOOLS, opening=3)
    at = of.rng.randrange(TOOLS - 1)
    tools = twin[0].tools[:at] + twin[0].tools[at + 1 :]
    drafts = [*twin[:2], replace(twin[2], tools=tools)]
    return planted(of, Cause.TOOLS_CHANGED, "removed", drafts, twin, at=("tool", at), place="tool")


def _added(seed: int, dialect: Dialect) -> Case:
    """Tools found as the session goes on are offered from then on."""
    of = scene(seed, "tool added", dialect)
    twin = session(of, 3, tools=TOOLS, opening=3)
    drafts = [replace(draft, tools=draft.tools[: 3 + n]) for n, draft in enumerate(twin)]
    return planted(of, Cause.TOOLS_CHANGED, "added", drafts, twin, at=("tool", 4), place="tool")


def _none_left(seed: int, dialect: Dialect) -> Case:
    """No tools on the last call, so that the model has to answer."""
    of = scene(seed, "no tools", dialect)
    twin = fan(of, 3, tools=TOOLS)
    return planted(
        of,
        Cause.TOOLS_CHANGED,
        "none-left",
        [*twin[:2], replace(twin[2], tools=())],
        twin,
        at="",
        kept=1 if dialect == "gemini" else 0,
    )


def _reworded(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "tool reworded", dialect)
    twin = session(of, 3, tools=TOOLS, opening=3)
    said = [of.writer.passage(20) for _ in twin]
    changed = [
        lambda tool, text=text: replace(tool, description=f"{tool.description} {text}")
        for text in said
    ]
    return _on_one(of, Cause.TOOL_DEFINITION, "description", twin, changed)


def _other_schema(seed: int, dialect: Dialect) -> Case:
    """Values that are read from a table are part of the schema."""
    of = scene(seed, "tool schema", dialect)
    twin = session(of, 3, tools=TOOLS, opening=3)
    teams = ["billing", "legal", "north", "returns", "south"]

    def offering(count: int) -> Any:
        field = {"type": "string", "enum": teams[:count]}
        return lambda tool: replace(tool, schema=_with(tool.schema, "team", field))

    return _on_one(
        of, Cause.TOOL_DEFINITION, "enum", twin, [offering(count) for count in (3, 4, 5)]
    )


def _with(schema: Mapping[str, Any], name: str, field: Mapping[str, Any]) -> dict[str, Any]:
    return {**schema, "properties": {**schema["properties"], name: field}}


def _keys_turned(seed: int, dialect: Dialect, name: str) -> Case:
    of = scene(seed, f"tool {name}", dialect)
    twin = session(of, 3, tools=TOOLS, opening=3)

    def turned(by: int) -> Any:
        def change(tool: Tool) -> Tool:
            schema = dict(tool.schema)
            if name == "schema-keys":
                return replace(tool, schema=_turn(schema, by))
            return replace(tool, schema={**schema, "properties": _turn(schema["properties"], by)})

        return change

    return _on_one(of, Cause.KEY_ORDER, name, twin, [turned(by) for by in (0, 1, 2)])


def _turn(values: Mapping[str, Any], by: int) -> dict[str, Any]:
    names = list(values)
    return {name: values[name] for name in (*names[by:], *names[:by])}


def _on_one(of: Scene, cause: Cause, name: str, twin: list[Draft], changes: list[Any]) -> Case:
    """One tool, changed in its own way in each request."""
    at = of.rng.randrange(TOOLS)
    drafts = []
    for draft, change in zip(twin, changes, strict=True):
        tools = list(draft.tools)
        tools[at] = change(tools[at])
        drafts.append(replace(draft, tools=tuple(tools)))
    return planted(of, cause, name, drafts, twin, at=("tool", at), place="tool")
