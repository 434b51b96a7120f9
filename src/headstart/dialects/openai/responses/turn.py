"""A response that is kept, so that others go on from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from headstart.dialects.openai.responses.said import Said


@dataclass(frozen=True, slots=True)
class Turn:
    """One request and its answer."""

    id: str
    previous: str | None
    """The response it went on from."""
    said: Said
    """What the request added, then what was answered; of its items, the request's alone."""
    output: Sequence[Mapping[str, Any]]
    """The items of the answer."""
    body: bytes
    """The response, as it was sent."""

    def ids(self) -> Iterator[str]:
        """Of all its items, the request's and the answer's."""
        yield from (listed.id for listed in self.said.items)
        yield from (item["id"] for item in self.output)

    def item(self, item_id: str) -> Mapping[str, Any]:
        """The item of one of these ids."""
        listed = next((each for each in self.said.items if each.id == item_id), None)
        if listed is not None:
            return listed.shown()
        return next(item for item in self.output if item["id"] == item_id)


class Past(Protocol):
    """What is kept of one tenant's responses."""

    def chain(self, response_id: str) -> Sequence[Turn]:
        """The response and all it went on from, the oldest first. Raises ApiError 400."""
        ...

    def item(self, item_id: str) -> Mapping[str, Any]:
        """An item of any of them. Raises ApiError 404."""
        ...
