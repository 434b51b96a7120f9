"""Responses that later ones go on from: in memory, so much of each tenant; the last used stay."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from headstart.dialects.openai.responses.refusals import item_not_found, previous_not_found
from headstart.dialects.openai.responses.turn import Turn

BUDGET_BYTES = 32 * 1024 * 1024
"""Of one tenant."""
COPIES = 3
"""A turn holds its texts as JSON, as items and as messages."""
BESIDES_BYTES = 1024
"""Of a turn and of each of its parts, all but the texts."""


class Kept:
    """One tenant's responses. Endpoints call it from threads.

    A turn that is used keeps those it went on from: they are used later than it.
    """

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._budget = budget
        self._size = 0
        self._turns: OrderedDict[str, Turn] = OrderedDict()
        self._items: dict[str, Turn] = {}
        """By the id of each item, the last turn that has it."""
        self._lock = Lock()

    def add(self, turn: Turn) -> None:
        """Keep a response; the oldest make room."""
        with self._lock:
            self._turns[turn.id] = turn
            self._items.update(dict.fromkeys(turn.ids(), turn))
            self._size += _size(turn)
            self._use(turn.previous)
            while self._size > self._budget:
                self._forget(next(iter(self._turns)))

    def get(self, response_id: str) -> Turn | None:
        """A response, if it is still here."""
        with self._lock:
            return self._turns.get(response_id)

    def delete(self, response_id: str) -> bool:
        """Forget a response; nothing can go on from it any more. False if it isn't here."""
        with self._lock:
            found = response_id in self._turns
            if found:
                self._forget(response_id)
            return found

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
        while response_id is not None and response_id in self._turns:
            self._turns.move_to_end(response_id)
            response_id = self._turns[response_id].previous

    def _forget(self, response_id: str) -> None:
        turn = self._turns.pop(response_id)
        self._size -= _size(turn)
        for item_id in turn.ids():
            if self._items.get(item_id) is turn:
                del self._items[item_id]


class AllKept:
    """Every tenant's."""

    def __init__(self) -> None:
        self._tenants: dict[str, Kept] = {}

    def of(self, tenant: str) -> Kept:
        """Nobody else's are found there."""
        return self._tenants.setdefault(tenant, Kept())


def _size(turn: Turn) -> int:
    """Bytes it takes, roughly."""
    texts = sum(len(text) for part in turn.said.parts for text in part.shown)
    return BESIDES_BYTES * (1 + len(turn.said.parts)) + COPIES * (len(turn.body) + texts)
