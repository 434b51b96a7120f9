"""What the cache raises when its books contradict themselves."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headstart.cache.node import Node


class CacheCorrupt(AssertionError):
    """The bookkeeping contradicts itself: a defect of this package, never of a request."""


def check(holds: bool, where: "Node | int | None", complaint: str) -> None:
    """Raise CacheCorrupt with `complaint` about a node or a block unless it `holds`."""
    if holds:
        return
    if where is None:
        raise CacheCorrupt(complaint)
    if isinstance(where, int):
        raise CacheCorrupt(f"block {where}: {complaint}")
    raise CacheCorrupt(f"node of blocks {where.blocks} at depth {where.start}: {complaint}")
