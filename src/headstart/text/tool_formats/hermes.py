"""Hermes: `<tool_call>` tags around JSON (Qwen2.5, Qwen3, Hermes, and our fallback)."""

from collections.abc import Sequence

from headstart.text.chat import Tool
from headstart.text.partial import partial_suffix
from headstart.text.tool_events import ToolCallParser
from headstart.text.tool_grammar import (
    PROSE,
    call_rules,
    chosen_tools,
    instead,
    literal,
    prose_rules,
)
from headstart.text.tool_parser import JsonCallParser, Opening

_OPEN = "<tool_call>"
_CLOSE = "</tool_call>"


class HermesFormat:
    r"""`<tool_call>\n{"name": …, "arguments": {…}}\n</tool_call>`, a line break between calls."""

    name = "hermes"
    markers = frozenset((_OPEN, _CLOSE))

    def grammar(
        self,
        tools: Sequence[Tool],
        names: Sequence[str] | None,
        parallel: bool,
        otherwise: str | None = None,
    ) -> str:
        """See ToolFormat."""
        rules = call_rules(
            chosen_tools(tools, names),
            "arguments",
            begin="\n" if otherwise == PROSE else f"{_OPEN}\n",
            end=f"\n{_CLOSE}",
            forced=otherwise is None,
        )
        if otherwise == PROSE:
            start = f"(opened call)* {PROSE}" if parallel else f"opened call | {PROSE}"
            return f"start: {start}\n{prose_rules(literal(_OPEN))}{rules}"
        more = f"({literal(chr(10))} call)*" if parallel else ""
        return f"start: call {more}{instead(otherwise)}\n{rules}"

    def parser(self) -> ToolCallParser:
        """See ToolFormat."""
        return JsonCallParser(_TagOpenings(), closing=_CLOSE)


class _TagOpenings:
    """The line break before a tag belongs to the format: templates write it themselves."""

    def find(self, text: str) -> Opening | None:
        start = text.find(_OPEN)
        if start < 0:
            return None
        body = start + len(_OPEN)
        return Opening(start - 1 if text[:start].endswith("\n") else start, body)

    def held(self, text: str) -> int:
        return partial_suffix(text, (_OPEN, f"\n{_OPEN}"))

    def passed(self, *, call: bool) -> None:
        """A tag opens a call wherever it stands."""
