"""Where the parts of a conversation end in its prompt, in tokens."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import overload

from headstart.text.places import ends
from headstart.text.ruler import Ruler


class Ends(Sequence[int]):
    """For every part, how many tokens lie wholly within the prompt through it; they never fall.

    Worked out when they are asked for: a few of thousands are.
    """

    def __init__(
        self, text: str, parts: Sequence[Sequence[str]], ruler: Callable[[], Ruler]
    ) -> None:
        """`parts`: the texts that `text`, the prompt, shows of each. `ruler` measures `text`."""
        self._text = text
        self._parts = parts
        self._new_ruler = ruler

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> list[int]: ...

    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return [self._ruler.tokens_through(place) for place in self._places[index]]
        return self._ruler.tokens_through(self._places[index])

    def __iter__(self) -> Iterator[int]:
        return iter(self[:])

    @cached_property
    def _places(self) -> list[int]:
        return ends(self._text, self._parts)

    @cached_property
    def _ruler(self) -> Ruler:
        return self._new_ruler()
