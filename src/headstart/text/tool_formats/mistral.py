"""Mistral: the token `[TOOL_CALLS]`, then a JSON array of calls."""

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

_MARK = "[TOOL_CALLS]"


class MistralFormat:
    """`[TOOL_CALLS][{"name": …, "arguments": {…}}, …]`, alone or behind text."""

    name = "mistral"
    markers = frozenset((_MARK,))

    def __init__(self, mark_id: int | None, *, spaced: bool) -> None:
        """`mark_id`: the mark's id where it is a special token. `spaced`: a blank follows it."""
        self._mark = literal(_MARK) if mark_id is None else f"<[{mark_id}]>"
        # Text can't hold a special token, so nothing is lazy there.
        prose = prose_rules(self._mark)
        self._prose = prose if mark_id is None else prose.replace("[lazy]", "", 1)
        self._begin = " [" if spaced else "["

    def grammar(
        self,
        tools: Sequence[Tool],
        names: Sequence[str] | None,
        parallel: bool,
        otherwise: str | None = None,
    ) -> str:
        """See ToolFormat."""
        rules = call_rules(
            chosen_tools(tools, names), "arguments", begin="", end="", forced=otherwise is None
        )
        more = f"({literal(', ')} call)*" if parallel else ""
        calls = f"{literal(self._begin)} call {more} {literal(']')}"
        if otherwise == PROSE:
            return f"start: opened {calls} | {PROSE}\n{self._prose}{rules}"
        return f"start: {self._mark} {calls}{instead(otherwise)}\n{rules}"

    def parser(self) -> ToolCallParser:
        """See ToolFormat."""
        return JsonCallParser(_MarkOpenings(), closing="")


class _MarkOpenings:
    """The mark opens a call wherever it stands."""

    def find(self, text: str) -> Opening | None:
        start = text.find(_MARK)
        return None if start < 0 else Opening(start, start + len(_MARK))

    def held(self, text: str) -> int:
        return partial_suffix(text, (_MARK,))

    def passed(self, *, call: bool) -> None:
        """Where the mark stands makes no difference."""
