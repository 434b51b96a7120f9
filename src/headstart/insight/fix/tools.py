"""Tools in one order, and the keys of their schemas in one."""

from typing import Any

from headstart.insight.asked.formats.values import fields, text
from headstart.insight.causes import Cause
from headstart.insight.fix.draft import Draft

MARKS = ("cache_control", "prompt_cache_breakpoint")
SCHEMAS = ("input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema")


class SortedTools:
    """By name. Marks stay at their places in the list."""

    name = "tools sorted by name"
    causes = frozenset((Cause.TOOL_ORDER,))

    def begin(self) -> None:
        """Nothing is remembered."""

    def apply(self, draft: Draft) -> bool:
        """Each list of tools on its own."""
        changed = False
        for holder, key in _lists(draft.body):
            tools = holder[key]
            new = sorted(tools, key=_name)
            if new == tools:
                continue
            marks = [{k: tool[k] for k in MARKS if k in tool} for tool in tools]
            holder[key] = [
                {k: value for k, value in tool.items() if k not in MARKS} | mark
                for tool, mark in zip(new, marks, strict=True)
            ]
            changed = True
        return changed


class SortedKeys:
    """Of tools' schemas, at every depth. Lists keep their order: there it means something."""

    name = "keys of tools' schemas sorted"
    causes = frozenset((Cause.KEY_ORDER,))

    def begin(self) -> None:
        """Nothing is remembered."""

    def apply(self, draft: Draft) -> bool:
        """All tools."""
        changed = False
        for holder, key in _lists(draft.body):
            for tool in holder[key]:
                for owner in (tool, tool.get("function")):
                    for name in SCHEMAS:
                        if isinstance(owner, dict) and isinstance(owner.get(name), dict):
                            new = in_order(owner[name])
                            changed = changed or list(_keys(new)) != list(_keys(owner[name]))
                            owner[name] = new
        return changed


def in_order(value: Any) -> Any:
    """The same value with its keys sorted."""
    if isinstance(value, dict):
        return {name: in_order(value[name]) for name in sorted(value)}
    return [in_order(each) for each in value] if isinstance(value, list) else value


def _keys(value: Any) -> Any:
    if isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from _keys(each)
    elif isinstance(value, list):
        for each in value:
            yield from _keys(each)


def _lists(body: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Where lists of tools are held."""
    found: list[tuple[dict[str, Any], str]] = []
    for key in ("tools", "functions"):
        held = body.get(key)
        if not isinstance(held, list) or not all(isinstance(tool, dict) for tool in held):
            continue
        found.append((body, key))
        found += [
            (tool, name)
            for tool in held
            for name in ("functionDeclarations", "function_declarations")
            if isinstance(tool.get(name), list)
        ]
    return found


def _name(tool: dict[str, Any]) -> str:
    inner = fields(tool.get("function")) or tool
    return text(inner.get("name")) or text(tool.get("type"))
