"""A request before it is in anybody's format. Everything here is a value: defects are functions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tests.insight.labelled.case import Dialect

Mark = str | None
"""`""` is a marker with the default lifetime."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    schema: Mapping[str, Any]
    mark: Mark = None


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    mark: Mark = None


@dataclass(frozen=True, slots=True)
class Image:
    png: bytes


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    call: Call
    text: str
    mark: Mark = None


@dataclass(frozen=True, slots=True)
class Thought:
    """Anthropic's alone."""

    text: str
    signature: str
    mark: Mark = None


Block = Text | Image | Call | Result | Thought


@dataclass(frozen=True, slots=True)
class Turn:
    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]
    listed: bool = False
    """Whether a single text is written as a list of one block."""

    @property
    def text(self) -> str:
        """Of its first block, which is a text."""
        first = self.blocks[0]
        assert isinstance(first, Text)
        return first.text

    def marked(self, mark: Mark) -> "Turn":
        """The same turn with this marker at its end and no other."""
        blocks = [
            block if isinstance(block, Image | Call) else replace(block, mark=None)
            for block in self.blocks
        ]
        end = blocks[-1]
        if mark is not None and not isinstance(end, Image | Call):
            blocks[-1] = replace(end, mark=mark)
        return replace(self, blocks=tuple(blocks))

    def say(self, text: str) -> "Turn":
        """The same turn with another first text."""
        first = self.blocks[0]
        assert isinstance(first, Text)
        return replace(self, blocks=(replace(first, text=text), *self.blocks[1:]))


@dataclass(frozen=True, slots=True)
class Draft:
    """One request."""

    dialect: Dialect
    model: str
    system: tuple[Text, ...]
    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...] = ()
    listed: bool = False
    """Whether a single system text is written as a list of one block."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of the body, spelled as this dialect does."""

    def with_system(self, change: Callable[[str], str], at: int = 0) -> "Draft":
        """The same with one text of the system prompt changed."""
        blocks = list(self.system)
        blocks[at] = replace(blocks[at], text=change(blocks[at].text))
        return replace(self, system=tuple(blocks))

    def with_turn(self, at: int, turn: Turn) -> "Draft":
        """The same with another turn at `at`."""
        turns = list(self.turns)
        turns[at] = turn
        return replace(self, turns=tuple(turns))

    def system_marked(self, mark: Mark) -> "Draft":
        """The same with this marker on each text of the system prompt."""
        return replace(self, system=tuple(replace(block, mark=mark) for block in self.system))

    def unmarked(self) -> "Draft":
        """The same without any marker."""
        tools = tuple(replace(tool, mark=None) for tool in self.tools)
        turns = tuple(turn.marked(None) for turn in self.turns)
        return replace(self.system_marked(None), tools=tools, turns=turns)

    def last_turn(self, turn: Turn) -> "Draft":
        """The same with another last turn."""
        return self.with_turn(len(self.turns) - 1, turn)

    def with_fields(self, **fields: Any) -> "Draft":
        """The same with more fields."""
        return replace(self, fields={**self.fields, **fields})


def says(text: str, mark: Mark = None, *, listed: bool = False) -> Turn:
    """A user's turn of one text."""
    return Turn("user", (Text(text, mark),), listed)


def answers(text: str) -> Turn:
    """An assistant's turn of one text."""
    return Turn("assistant", (Text(text),))
