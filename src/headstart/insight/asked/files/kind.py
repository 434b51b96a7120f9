"""What a kind of recording has to tell: whether a file is one, and the requests in it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.detect import Signs

Object = Mapping[str, Any]
Objects = Iterator[tuple[Origin, Any]]
"""The values of a file, each with its place."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of recording."""

    name: str
    claims: Callable[[Sequence[Object]], bool]
    """Whether a file that begins with these objects is one."""
    read: Callable[[Objects, Signs], Iterator[Asked]]
    """Its requests; the signs are what the user told. Raises Unreadable."""
    answers: bool = False
    """Whether it holds answers alone: their requests may be in another file, under the same ids."""
