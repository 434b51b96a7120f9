"""Tools that agents are given, and what they come to."""

import random
import string
from collections.abc import Mapping
from typing import Any

from tests.insight.labelled.case import Dialect
from tests.insight.labelled.draft import Call, Result, Tool
from tests.insight.labelled.prose import Writer

PREFIX: Mapping[Dialect, str] = {
    "anthropic": "toolu_01",
    "chat": "call_",
    "responses": "call_",
    "gemini": "fc-",
    "deepseek": "call_0_",
}
NAMES = (
    "create_ticket",
    "fetch_invoice",
    "find_customer",
    "get_shipment",
    "list_files",
    "query_ledger",
    "read_file",
    "run_tests",
    "search_wiki",
    "send_mail",
    "update_order",
    "write_file",
)
PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "query": {"type": "string", "description": "What to look for, in plain words."},
    "path": {"type": "string", "description": "Relative to the root of the project."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
    "account": {"type": "string", "description": "The account's short name."},
    "state": {"type": "string", "enum": ["open", "waiting", "closed"]},
    "dry_run": {"type": "boolean", "description": "Show what would be done."},
    "labels": {"type": "array", "items": {"type": "string"}},
}


def make_tools(writer: Writer, count: int) -> tuple[Tool, ...]:
    """Sorted by name."""
    rng = writer.rng
    tools = []
    for name in sorted(rng.sample(NAMES, count)):
        fields = rng.sample(sorted(PARAMETERS), rng.randint(3, 5))
        schema = {
            "type": "object",
            "properties": {field: dict(PARAMETERS[field]) for field in fields},
            "required": fields[:2],
        }
        tools.append(Tool(name, writer.passage(30), schema))
    return tuple(tools)


def call(writer: Writer, dialect: Dialect, tools: tuple[Tool, ...]) -> Call:
    """What a model calls; its id is as this vendor makes them."""
    rng = writer.rng
    tool = rng.choice(tools)
    arguments: dict[str, Any] = {}
    for name in tool.schema["required"]:
        kind = tool.schema["properties"][name]
        arguments[name] = {
            "string": rng.choice(kind.get("enum", ["src/main.py", "north-wind", "late parcels"])),
            "integer": rng.randint(1, 50),
            "boolean": rng.random() < 0.5,
            "array": ["urgent", "vip"],
        }[kind["type"]]
    return Call(PREFIX[dialect] + letters(rng, 22), tool.name, arguments)


def result(writer: Writer, made: Call, tokens: int = 60) -> Result:
    """Rows with times and ids in them, as real results have: they stay what they are."""
    rng = writer.rng
    rows = [
        f"2026-{rng.randint(1, 9):02}-{rng.randint(10, 28)}T{rng.randint(10, 23)}:"
        f"{rng.randint(10, 59)}:{rng.randint(10, 59)}Z {letters(rng, 8)} {writer.answer}"
        for _ in range(max(1, tokens // 30))
    ]
    return Result(made, "\n".join(rows))


def letters(rng: random.Random, count: int) -> str:
    """As in opaque ids."""
    return "".join(rng.choices(string.ascii_letters + string.digits, k=count))


def hexadecimal(rng: random.Random, count: int) -> str:
    """Digits of a hash; at least one of them a letter and one a figure."""
    return "".join(rng.choices("0123456789abcdef", k=count - 2)) + "a7"
