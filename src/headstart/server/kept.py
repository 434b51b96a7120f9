"""Responses that later ones go on from: in memory, so much of each tenant; the last used stay."""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from headstart.dialects.openai.responses.items import ReasoningItem
from headstart.dialects.openai.responses.refusals import item_not_found, previous_not_found
from headstart.dialects.openai.responses.turn import Turn
from headstart.server.kept_chats import KeptChats
from headstart.server.shelf import BUDGET_BYTES, Shelf

COPIES = 3
"""A turn holds its texts as JSON, as items and as messages."""
BESIDES_BYTES = 1024
"""Of a turn, of each of its parts and of each thought, all but the texts."""


class Kept:
    """One tenant's responses. Endpoints call it from threads.

    A turn that is used keeps those it went on from: they are used later than it.
    """

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._turns = Shelf(_size, budget)
        self._items: dict[str, Turn] = {}
        """By the id of each item, the last turn that has it."""
        self._lock = Lock()

    def add(self, turn: Turn) -> None:
        """Keep a response; the oldest make room."""
        with self._lock:
            self._turns.put(turn.id, turn)
            self._items.update(dict.fromkeys(turn.ids(), turn))
            self._use(turn.previous)
            for gone in self._turns.trim():
                self._forget_items(gone)

    def get(self, response_id: str) -> Turn | None:
        """A response, if it is still here."""
        with self._lock:
            return self._turns.get(response_id)

    def delete(self, response_id: str) -> bool:
        """Forget a response; nothing can go on from it any more. False if it isn't here."""
        with self._lock:
            turn = self._turns.pop(response_id)
            if turn is not None:
                self._forget_items(turn)
            return turn is not None

    def chain(self, response_id: str) -> Sequence[Turn]:
        """The response and all it went on from, the oldest first. Raises ApiError 400."""
        with self._lock:
            turns = []
            at: str | None = response_id
            while at is not None:
                turn = self._turns.get(at)
                if turn is None:
                    raise previous_not_found(response_id)
                turns.append(turn)
                at = turn.previous
            self._use(response_id)
            return turns[::-1]

    def item(self, item_id: str) -> Mapping[str, Any]:
        """An item of any of them. Raises ApiError 404."""
        with self._lock:
            if item_id not in self._items:
                raise item_not_found(item_id)
            return self._items[item_id].item(item_id)

    def _use(self, response_id: str | None) -> None:
        """From the turn to the one that began: whatever goes first, its beginnings are there."""
        while response_id is not None and (turn := self._turns.get(response_id)) is not None:
            self._turns.use(response_id)
            response_id = turn.previous

    def _forget_items(self, turn: Turn) -> None:
        for item_id in turn.ids():
            if self._items.get(item_id) is turn:
                del self._items[item_id]


class AllKept:
    """Every tenant's; nobody else's are found with it."""

    def __init__(self) -> None:
        self._responses: dict[str, Kept] = {}
        self._chats: dict[str, KeptChats] = {}

    def of(self, tenant: str) -> Kept:
        """Its responses."""
        return self._responses.setdefault(tenant, Kept())

    def chats(self, tenant: str) -> KeptChats:
        """Its chat completions."""
        return self._chats.setdefault(tenant, KeptChats())


def _size(turn: Turn) -> int:
    """Bytes it takes, roughly."""
    texts = sum(len(text) for part in turn.said.parts for text in part.shown)
    items = (listed.item for listed in turn.said.items)
    thoughts = [item.size for item in items if isinstance(item, ReasoningItem)]
    pieces = 1 + len(turn.said.parts) + len(thoughts)
    return BESIDES_BYTES * pieces + COPIES * (len(turn.body) + texts) + sum(thoughts)
