"""What a tool-call parser reports, and the seam every tool format fills."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from headstart.text.chat import Tool


@dataclass(frozen=True, slots=True)
class Text:
    """Ordinary output."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStart:
    """A call of tool `name`; `index` counts the calls of this answer from 0."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """A piece of the arguments of call `index`: joined, the JSON text exactly as generated.

    Of a call that was cut their beginning; none come where it was cut before.
    """

    index: int
    json_fragment: str


Event = Text | CallStart | CallArguments


class ToolCallParser(Protocol):
    """Splits one answer's text into text and calls. Nothing is lost: no call, then it is text."""

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of output."""
        ...

    def finish(self, *, cut: bool) -> list[Event]:
        """The output has ended: settle what was held back. `cut`: it would have gone on."""
        ...


class ToolFormat(Protocol):
    """How one model family writes tool calls."""

    @property
    def name(self) -> str:
        """`hermes`, `llama3` or `mistral`."""
        ...

    @property
    def markers(self) -> frozenset[str]:
        """Special tokens that are part of the format: their text must reach the parser."""
        ...

    def grammar(
        self,
        tools: Sequence[Tool],
        names: Sequence[str] | None,
        parallel: bool,
        otherwise: str | None = None,
    ) -> str:
        """A llguidance Lark grammar of calls: one, or with `parallel` one or more.

        `names` are the tools that may be called, None for all. `otherwise` is what may be said
        instead: PROSE, which may then come before calls too, or JSON of this schema. Without it a
        call is forced, and arguments obey the schema of any tool, not of strict ones alone. Raises
        ValueError for an unknown name and where there is no tool.
        """
        ...

    def parser(self) -> ToolCallParser:
        """A parser for one answer."""
        ...
