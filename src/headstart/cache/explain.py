"""Works out why a prompt reuses no more than it does. Changes nothing."""

from array import array
from collections.abc import Iterator
from dataclasses import fields
from itertools import islice

from headstart.cache.ghosts import Ghost
from headstart.cache.keys import TOKEN_BYTES, BlockKey, Chain, Namespace
from headstart.cache.node import Found
from headstart.cache.report import WINDOW, Miss, Reason
from headstart.cache.tree import Tree

MOST_SPACES = 32
"""Other namespaces of the tenant that are looked into."""
MOST_LOST = 4096
"""Lost blocks that are counted."""


def explain(
    tree: Tree, found: Found, chain: Chain, *, most: int, ceiling: int, prompt: int, cached: int
) -> Miss:
    """The reason for a prompt of `prompt` tokens of which `cached` are reused.

    Of the first `most` at best, and `ceiling` in whole units if all of them were cached.
    """
    size = tree.block_size
    common = min(found.depth * size + found.tokens, most)
    if cached >= prompt - 1:
        return Miss(Reason.CAPPED, cached)
    if not found.depth and (differing := _other_namespace(tree, chain)):
        return Miss(Reason.OTHER_NAMESPACE, common, fields=differing)
    ghost, lost = _lost(tree, found, chain, most // size)
    if ghost is not None:
        reason = Reason.EVICTED if ghost.cause == "evicted" else Reason.EXPIRED
        age = tree.now() - ghost.when
        tokens = (found.depth + lost) * size - common
        return Miss(reason, common, ghost=ghost, lost_for=age, lost_tokens=tokens)
    if 0 < common < most and (ahead := _ahead(found, tree.width)):
        return Miss(Reason.DIVERGED, common, cached_ahead=ahead)
    if common > cached or cached == ceiling:
        return Miss(Reason.BLOCK_FLOOR, common)
    return Miss(Reason.NEVER_SEEN, common)


def _other_namespace(tree: Tree, chain: Chain) -> tuple[str, ...]:
    """Fields in which another namespace of the tenant differs that has the first block."""
    first = bytes(chain.data[: tree.width])
    roots = tree.tenants.get(chain.namespace.tenant, {})
    for root in islice(roots.values(), MOST_SPACES):
        begins = root.namespace != chain.namespace and not root.start
        if begins and root.children.get(first) is not None:
            return _differing(root.namespace, chain.namespace)
    return ()


def _differing(one: Namespace, other: Namespace) -> tuple[str, ...]:
    names = (field.name for field in fields(Namespace))
    return tuple(name for name in names if getattr(one, name) != getattr(other, name))


def _lost(tree: Tree, found: Found, chain: Chain, full: int) -> tuple[Ghost | None, int]:
    """What happened to the next block, and how many from there on were lost."""
    first = None
    for lost, key in enumerate(_keys_ahead(found, chain, min(full, found.depth + MOST_LOST))):
        ghost = tree.ghosts.get(key)
        if ghost is None:
            return first, lost
        first = first or ghost
    return first, max(0, min(full - found.depth, MOST_LOST)) if first else 0


def _keys_ahead(found: Found, chain: Chain, last: int) -> Iterator[BlockKey]:
    """What the next blocks would be found under, up to `last`."""
    begin, parent = found.depth, found.node.key_before(found.depth)
    if chain.shared is not None and begin < chain.border:
        yield from chain.shared.keys(chain.border)[begin:last]
        begin = chain.border
        if begin < last:
            parent = chain.keys(begin)[begin - 1]
    for depth in range(begin, last):
        (parent,) = chain.keys_behind(parent, depth, depth + 1)
        yield parent


def _ahead(found: Found, width: int) -> tuple[int, ...]:
    """What the nearest cached prefix goes on with."""
    node, skip = found.node, 0
    if found.beside is not None:
        node = found.beside
        skip = (found.depth - node.start) * width + found.tokens * TOKEN_BYTES
    elif node.end > found.depth:
        skip = (found.depth - node.start) * width
    elif len(node.children):
        node = next(iter(node.children))
    else:
        return ()
    ahead = bytes(node.label[skip : skip + WINDOW * TOKEN_BYTES])
    while ahead and len(ahead) < WINDOW * TOKEN_BYTES and len(node.children):
        node = next(iter(node.children))
        ahead += bytes(node.label[: WINDOW * TOKEN_BYTES - len(ahead)])
    return tuple(array("I", ahead))
