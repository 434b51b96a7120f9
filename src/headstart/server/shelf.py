"""So many bytes of things; what was put there or used longest ago goes first."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Thing = TypeVar("Thing")

BUDGET_BYTES = 32 * 1024 * 1024
"""Of what one tenant keeps of one kind."""


class Shelf(Generic[Thing]):
    """Things by their names."""

    def __init__(self, size: Callable[[Thing], int], budget: int = BUDGET_BYTES) -> None:
        """`size`: the bytes that a thing takes, roughly."""
        self._size_of = size
        self._budget = budget
        self._size = 0
        self._things: OrderedDict[str, Thing] = OrderedDict()

    def __iter__(self) -> Iterator[Thing]:
        """The next to go is the first."""
        return iter(self._things.values())

    def get(self, name: str) -> Thing | None:
        """A thing, if it is still here."""
        return self._things.get(name)

    def put(self, name: str, thing: Thing) -> None:
        """Keep a thing, in the place of the one of this name; `trim` makes room for it."""
        old = self._things.get(name)
        self._things[name] = thing
        self._size += self._size_of(thing) - (0 if old is None else self._size_of(old))

    def use(self, name: str) -> None:
        """Let it be the last to go."""
        self._things.move_to_end(name)

    def pop(self, name: str) -> Thing | None:
        """Forget a thing; None if it isn't here."""
        thing = self._things.pop(name, None)
        if thing is not None:
            self._size -= self._size_of(thing)
        return thing

    def trim(self) -> Iterator[Thing]:
        """Forget what the budget has no room for."""
        while self._size > self._budget:
            thing = self.pop(next(iter(self._things)))
            assert thing is not None, "it was the first"
            yield thing
