"""Bodies of requests and nothing beside them: one, a list, or one a line."""

from collections.abc import Iterator, Sequence

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.detect import Signs, format_of
from headstart.insight.asked.files.kind import Kind, Object, Objects
from headstart.insight.asked.read import read_each


def claims(first: Sequence[Object]) -> bool:
    """A body is an object that some format allows."""
    return all(format_of(each) is not None for each in first)


def read(objects: Objects, told: Signs) -> Iterator[Asked]:
    """Raises Unreadable."""
    for origin, body in objects:
        yield from read_each(body, told, origin)


BODIES = Kind("bodies", claims, read)
