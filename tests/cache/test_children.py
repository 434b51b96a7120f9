import random
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from tests.cache.build import common_prefix, steps

from headstart.cache import children
from headstart.cache.children import Children, common_tokens
from headstart.cache.keys import token_bytes
from headstart.cache.node import Node

Tokens = tuple[int, ...]


def child(tokens: Tokens) -> Node:
    return Node(None, token_bytes(tokens), [], [], 0)


def of(*firsts: Tokens) -> tuple[Children, dict[Tokens, Node]]:
    family, nodes = Children(), {tokens: child(tokens) for tokens in firsts}
    for tokens, node in nodes.items():
        family.add(token_bytes(tokens), node)
    return family, nodes


def longest(known: "dict[Tokens, Node]", wanted: Tokens) -> int:
    return max((common_prefix(tokens, wanted) for tokens in known), default=0)


def check_nearest(family: Children, known: "dict[Tokens, Node]", wanted: Tokens) -> None:
    node, count = family.nearest(token_bytes(wanted))
    assert count == longest(known, wanted)
    assert (node is None) == (count == 0)
    if node is not None:
        assert common_tokens(bytes(node.label), token_bytes(wanted)) == count
        assert any(node is one for one in known.values())


# Many low bytes in common and tokens above one byte: order by bytes is not order by token.
token = st.sampled_from([0, 1, 2, 255, 256, 257, 65_536, 2**32 - 1])
firsts = st.lists(token, min_size=1, max_size=5).map(tuple)


@given(st.lists(token, max_size=6), st.lists(token, max_size=6))
def test_tokens_in_common_are_counted_from_the_front(one: list[int], other: list[int]) -> None:
    assert common_tokens(token_bytes(one), token_bytes(other)) == common_prefix(one, other)


def test_one_changed_bit_ends_what_is_in_common() -> None:
    tokens = [0, 2**32 - 1, 1, 2**31, 0]
    for at in range(5):
        for bit in range(32):
            other = [*tokens]
            other[at] ^= 1 << bit
            assert common_tokens(token_bytes(tokens), token_bytes(other)) == at


def test_without_children_there_is_nothing_near() -> None:
    assert Children().nearest(token_bytes([1, 2])) == (None, 0)
    assert Children().get(token_bytes([1])) is None


def test_a_child_is_found_by_its_whole_first_block_only() -> None:
    family, nodes = of((1, 2, 3))
    assert family.get(token_bytes([1, 2, 3])) is nodes[1, 2, 3]
    assert family.get(token_bytes([1, 2])) is None
    assert family.get(token_bytes([1, 2, 3, 4])) is None


def test_a_child_that_shares_no_token_is_not_near() -> None:
    """It may share bytes of the first token."""
    family, _ = of((256,), (512,))
    assert family.nearest(token_bytes([0])) == (None, 0)


def test_a_replaced_child_is_found_in_the_place_of_the_old_one() -> None:
    family, _ = of((1, 2), (1, 3))
    new = child((1, 2))
    family.replace(token_bytes([1, 2]), new)
    assert family.get(token_bytes([1, 2])) is new
    assert family.nearest(token_bytes([1, 2, 9])) == (new, 2)
    assert len(family) == 2


def test_a_removed_child_is_neither_found_nor_near() -> None:
    family, nodes = of((1, 2), (1, 3))
    family.remove(token_bytes([1, 2]))
    assert family.get(token_bytes([1, 2])) is None
    assert family.nearest(token_bytes([1, 2])) == (nodes[1, 3], 1)
    family.remove(token_bytes([1, 3]))
    assert len(family) == 0
    assert family.nearest(token_bytes([1, 2])) == (None, 0)


def test_what_follows_the_last_child_is_nothing() -> None:
    family, _ = of((1,), (2,))
    assert family.after(token_bytes([2])) is None
    assert family.after(token_bytes([1])) == token_bytes([2])


changes = st.lists(st.tuples(st.booleans(), firsts), max_size=60)


@given(changes, st.lists(firsts, max_size=8), st.integers(1, 3))
def test_the_nearest_child_is_the_one_that_a_look_at_all_of_them_finds(
    work: list[tuple[bool, Tokens]], asked: list[Tokens], chunk: int
) -> None:
    """Also where the order is cut into chunks as small as can be."""
    known: dict[Tokens, Node] = {}
    with patch.object(children, "_CHUNK", chunk):
        family = Children()
        for add, tokens in work:
            if add and tokens not in known:
                known[tokens] = child(tokens)
                family.add(token_bytes(tokens), known[tokens])
            elif not add and tokens in known:
                del known[tokens]
                family.remove(token_bytes(tokens))
            check_nearest(family, known, tokens)
    for wanted in [*asked, *known]:
        check_nearest(family, known, wanted)
        assert family.get(token_bytes(wanted)) is known.get(wanted)
    assert sorted(map(id, family)) == sorted(map(id, known.values()))
    assert len(family) == len(known)


@given(changes, st.integers(1, 3))
def test_what_follows_a_child_is_next_in_the_order_of_bytes(
    work: list[tuple[bool, Tokens]], chunk: int
) -> None:
    """Whatever begins like a child comes right behind it."""
    known: set[bytes] = set()
    with patch.object(children, "_CHUNK", chunk):
        family = Children()
        for add, tokens in work:
            first = token_bytes(tokens)
            if add and first not in known:
                known.add(first)
                family.add(first, child(tokens))
            elif not add and first in known:
                known.remove(first)
                family.remove(first)
    if len(known) > 1:
        order = sorted(known)
        assert [family.after(first) for first in order] == [*order[1:], None]
    else:
        assert all(family.after(first) is None for first in known)


def test_thousands_of_children_are_added_asked_and_removed_at_the_cost_of_a_few() -> None:
    """A system prompt behind which every user's question begins."""
    rng = random.Random(3)
    drawn = [tuple(rng.choices(range(300), k=4)) for _ in range(5_000)]
    family, known = Children(), dict[Tokens, Node]()
    adding = asking = removing = 0
    for tokens in dict.fromkeys(drawn):
        known[tokens] = child(tokens)
        first, node = token_bytes(tokens), known[tokens]
        adding = max(adding, steps(lambda first=first, node=node: family.add(first, node)))
    for tokens in drawn[:100]:
        wanted = (*tokens[:3], 301)
        check_nearest(family, known, wanted)
        asking = max(asking, steps(lambda wanted=wanted: family.nearest(token_bytes(wanted))))
    for tokens in rng.sample(list(known), len(known)):
        removing = max(removing, steps(lambda tokens=tokens: family.remove(token_bytes(tokens))))
        del known[tokens]
        if len(known) % 500 == 0:
            check_nearest(family, known, tokens)

    assert len(family) == 0
    assert max(adding, asking, removing) < 60


def test_no_chunk_of_the_order_grows_beyond_its_bound() -> None:
    """Adding moves what stands behind it in its chunk, and nothing else."""
    family = Children()
    for number in range(5_000):
        family.add(token_bytes([number]), child((number,)))
    assert family._order is not None
    assert max(map(len, family._order._chunks)) <= 2 * children._CHUNK
