"""From items to what they say: messages for the template, parts for the contract, the items."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from headstart.contracts.prompt import Kind
from headstart.dialects.chat import Part
from headstart.dialects.errors import invalid
from headstart.dialects.openai.parts import call_part, text_part
from headstart.dialects.openai.responses.items import (
    CallItem,
    MessageItem,
    OutputItem,
    Piece,
    ReasoningItem,
    ReferenceItem,
    pieces,
    read_item,
)
from headstart.dialects.openai.responses.listed import PREFIXES, Item, Listed
from headstart.text.chat import Message, ToolCall

Find = Callable[[str], Mapping[str, Any]]
"""The stored item of an id. Raises ApiError 404."""


@dataclass(frozen=True, slots=True)
class Said:
    """A stretch of a conversation."""

    messages: tuple[Message, ...] = ()
    parts: tuple[Part, ...] = ()
    items: tuple[Listed, ...] = ()


def read_input(raw: str | Iterable[Mapping[str, Any]], *, first: int, ids: str, find: Find) -> Said:
    """What the items say. `first`: the messages before; `ids`: what new ids are made from.

    Raises ApiError 400 with the field's path.
    """
    reader = Reader(first, ids)
    items = [{"role": "user", "content": raw}] if isinstance(raw, str) else raw
    for index, item in enumerate(items):
        path = "input" if isinstance(raw, str) else f"input[{index}]"
        read = read_item(item, path)
        if isinstance(read, ReferenceItem):
            read = read_item(find(read.id), path)
        match read:
            case MessageItem():
                reader.message(read, path)
            case CallItem():
                reader.call(read, path)
            case OutputItem():
                reader.output(read, path)
            case ReasoningItem():
                reader.reasoning(read)
    reader.end()
    return Said(tuple(reader.messages), tuple(reader.parts), tuple(reader.items))


@dataclass(slots=True)
class Reader:
    """A turn of the model is one message: its text and the calls behind it."""

    first: int
    ids: str
    messages: list[Message] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    items: list[Listed] = field(default_factory=list)
    _called: list[ToolCall] = field(default_factory=list)
    """By the last message, which doesn't say so yet."""

    def message(self, item: MessageItem, path: str) -> None:
        """Somebody says something."""
        said = pieces(item.content, f"{path}.content", written=item.role == "assistant")
        self._say(Message(item.role, _joined(said)))
        self._texts(item.role, said)
        self._list(item)

    def call(self, item: CallItem, path: str) -> None:
        """The model calls a function."""
        if not self.messages or self.messages[-1].role != "assistant":
            self._say(Message("assistant"))
        self._called.append(ToolCall(item.call_id, item.name, item.arguments))
        self.parts.append(call_part(item.name, item.arguments, path, self._at))
        self._list(item)

    def output(self, item: OutputItem, path: str) -> None:
        """A function has returned."""
        said = pieces(item.output, f"{path}.output", written=False)
        self._say(Message("tool", _joined(said), tool_call_id=item.call_id))
        self._texts("tool_result", said, item.call_id)
        self._list(item)

    def reasoning(self, item: ReasoningItem) -> None:
        """Some model thought: this one isn't shown it, and its turn goes on."""
        self._list(item)

    def end(self) -> None:
        """That was the last item. Raises ApiError 400."""
        self._close()
        last = self.items[-1] if self.items else None
        if last is not None and isinstance(last.item, ReasoningItem):
            message = (
                f"Item '{last.id}' of type 'reasoning' was provided without its required "
                "following item."
            )
            raise invalid(message, "input")

    def _close(self) -> None:
        """The last message is whole."""
        if self._called:
            self.messages[-1] = structs.replace(self.messages[-1], tool_calls=tuple(self._called))
            self._called.clear()

    def _say(self, message: Message) -> None:
        self._close()
        self.messages.append(message)

    @property
    def _at(self) -> int:
        return self.first + len(self.messages) - 1

    def _texts(self, kind: Kind, said: Sequence[Piece], distinct: str = "") -> None:
        for piece in said:
            self.parts.append(
                text_part(
                    kind, piece.text, piece.path, self._at, distinct=distinct, mark=piece.mark
                )
            )

    def _list(self, item: Item) -> None:
        name = item.id or f"{PREFIXES[type(item)]}_{self.ids}{len(self.items)}"
        self.items.append(Listed(name, item))


def check_calls(messages: Iterable[Message]) -> None:
    """Every result has a call before it, every call a result. Raises ApiError 400."""
    open_calls: dict[str, None] = {}
    known = set()
    for message in messages:
        for call in message.tool_calls:
            known.add(call.id)
            open_calls[call.id] = None
        if message.role == "tool":
            answered = message.tool_call_id or ""
            if answered not in known:
                text = f"No tool call found for function call output with call_id {answered}."
                raise invalid(text, "input")
            open_calls.pop(answered, None)
    for call_id in open_calls:
        raise invalid(f"No tool output found for function call {call_id}.", "input")


def _joined(said: Sequence[Piece]) -> str:
    """Parts are separate paragraphs of one message, as in chat completions."""
    if len(said) == 1:
        return said[0].text
    return "\n".join(piece.text for piece in said)
