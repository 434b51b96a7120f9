"""Llama 3: the whole answer is JSON, with or without `<|python_tag|>` before it."""

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

_TAG = "<|python_tag|>"
_NO_BRACE = r"[ \t\r\n]*([^ \t\r\n{](.|\n)*)?"
"""An answer that begins with a brace is a call."""


class Llama3Format:
    """`{"name": …, "parameters": {…}}` at the start of the answer, more of them after `;`."""

    name = "llama3"
    markers = frozenset((_TAG,))

    def grammar(
        self,
        tools: Sequence[Tool],
        names: Sequence[str] | None,
        parallel: bool,  # noqa: ARG002 (part of the seam)
        otherwise: str | None = None,
    ) -> str:
        """See ToolFormat. Always one call: Llama 3's templates refuse two in one message."""
        rules = call_rules(
            chosen_tools(tools, names), "parameters", begin="", end="", forced=otherwise is None
        )
        if otherwise == PROSE:
            prose = prose_rules(literal(_TAG), _NO_BRACE)
            return f"start: call | opened call | {PROSE}\n{prose}{rules}"
        return f"start: call{instead(otherwise)}\n{rules}"

    def parser(self) -> ToolCallParser:
        """See ToolFormat."""
        return JsonCallParser(_BareOpenings(), closing="")


class _BareOpenings:
    """A brace opens a call at the start and behind a call; the tag opens one anywhere."""

    def __init__(self) -> None:
        self._fresh = True
        self._separators = " \t\r\n"

    def find(self, text: str) -> Opening | None:
        rest = text.lstrip(self._separators)
        if self._fresh and rest.startswith("{"):
            return Opening(0, len(text) - len(rest))
        start = text.find(_TAG)
        if start < 0:
            return None
        if self._fresh and rest.startswith(_TAG):
            return Opening(0, start + len(_TAG))
        return Opening(start, start + len(_TAG))

    def held(self, text: str) -> int:
        rest = text.lstrip(self._separators)
        if self._fresh and _TAG.startswith(rest):
            return len(text)
        return partial_suffix(text, (_TAG,))

    def passed(self, *, call: bool) -> None:
        self._fresh = call
        self._separators = " \t\r\n;"
