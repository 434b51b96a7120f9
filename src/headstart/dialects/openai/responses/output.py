"""The items of an answer, built from its deltas, and the events that tell of them as they grow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from headstart.dialects.deltas import CallArguments, CallStart, Delta, Finish, TextDelta
from headstart.dialects.gathered import Gathered, GatheredCall, GatheredText
from headstart.dialects.logprobs import TokenLogprob
from headstart.dialects.openai.logprobs import chat_logprobs

Event = dict[str, Any]
"""As it is streamed, but without its number."""


@dataclass(slots=True)
class TextItem:
    """A message that is being written."""

    id: str
    pieces: list[str] = field(default_factory=list)
    logprobs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def part(self) -> dict[str, Any]:
        """Its content."""
        text = "".join(self.pieces)
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": self.logprobs}

    def render(self, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
        """The item."""
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": content,
        }


@dataclass(slots=True)
class CallItem:
    """A function call that is being written."""

    id: str
    call_id: str
    name: str
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        """JSON text, as far as it is there."""
        return "".join(self.pieces)

    def render(self, status: str) -> dict[str, Any]:
        """The item."""
        return {
            "id": self.id,
            "type": "function_call",
            "call_id": self.call_id,
            "name": self.name,
            "arguments": self.arguments,
            "status": status,
        }


class Output:
    """A pure state machine. Items come one after another; the last one may stay incomplete."""

    def __init__(self, unique: str, *, prewarm: bool = False) -> None:
        """`unique`: what the items' ids are made from. `prewarm`: no item is wanted."""
        self._unique = unique
        self._prewarm = prewarm
        self._open: TextItem | CallItem | None = None
        self._logprobs: list[dict[str, Any]] = []
        self.items: list[dict[str, Any]] = []
        """Those that won't change any more."""
        self.status = "completed"

    def feed(
        self, deltas: Sequence[Delta], logprobs: Sequence[TokenLogprob] = ()
    ) -> Iterator[Event]:
        """The next piece of the answer. Logprobs wait for text to go with."""
        self._logprobs += chat_logprobs(logprobs)["content"]
        for delta in deltas:
            match delta:
                case TextDelta(text):
                    yield from self._text(text)
                case CallStart(_, call_id, name):
                    yield from self._call(call_id, name)
                case CallArguments(_, text):
                    yield self._arguments(text)
                case Finish(reason):
                    yield from self._finish(reason)

    def take(self, choice: Gathered) -> None:
        """All of an answer at once."""
        deltas: list[Delta] = []
        for number, block in enumerate(choice.blocks):
            match block:
                case GatheredText():
                    deltas.append(TextDelta(block.text))
                case GatheredCall(call_id, name, arguments):
                    deltas += CallStart(number, call_id, name), CallArguments(number, arguments)
        for _ in self.feed([*deltas, choice.finish or Finish("stop")], choice.logprobs):
            pass

    def _text(self, text: str) -> Iterator[Event]:
        if not isinstance(self._open, TextItem):
            yield from self._close("completed")
            self._open = TextItem(self._id("msg"))
            yield self._event("output_item.added", item=self._open.render("in_progress", []))
            yield self._content("content_part.added", part=self._open.part)
        self._open.pieces.append(text)
        logprobs, self._logprobs = self._logprobs, []
        self._open.logprobs += logprobs
        yield self._content("output_text.delta", delta=text, logprobs=logprobs)

    def _call(self, call_id: str, name: str) -> Iterator[Event]:
        yield from self._close("completed")
        self._open = CallItem(self._id("fc"), call_id, name)
        yield self._event("output_item.added", item=self._open.render("in_progress"))

    def _arguments(self, text: str) -> Event:
        assert isinstance(self._open, CallItem), "arguments come while their call is open"
        self._open.pieces.append(text)
        return self._event("function_call_arguments.delta", item_id=self._open.id, delta=text)

    def _finish(self, reason: str) -> Iterator[Event]:
        if self._prewarm:
            return
        if reason == "length":
            self.status = "incomplete"
        if self._open is None:
            yield from self._text("")
        yield from self._close(self.status)

    def _close(self, status: str) -> Iterator[Event]:
        match self._open:
            case None:
                return
            case TextItem() as text:
                text.logprobs += self._logprobs
                part = text.part
                yield self._content(
                    "output_text.done", text=part["text"], logprobs=part["logprobs"]
                )
                yield self._content("content_part.done", part=part)
                item = text.render(status, [part])
            case CallItem() as call:
                yield self._event(
                    "function_call_arguments.done",
                    item_id=call.id,
                    name=call.name,  # SDKs of version 2 ask for it.
                    arguments=call.arguments,
                )
                item = call.render(status)
        yield self._event("output_item.done", item=item)
        self.items.append(item)
        self._open = None
        self._logprobs = []

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{self._unique}o{len(self.items)}"

    def _event(self, kind: str, **fields: Any) -> Event:
        return {"type": f"response.{kind}", "output_index": len(self.items), **fields}

    def _content(self, kind: str, **fields: Any) -> Event:
        assert self._open is not None
        return self._event(kind, item_id=self._open.id, content_index=0, **fields)
