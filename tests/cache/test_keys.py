import hashlib
import os
import struct
import subprocess
import sys
from array import array
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cache.build import namespace

from headstart.cache import Chain, Namespace, keys
from headstart.cache.keys import block_key, token_bytes

# The encoding as documented in keys.py, stated again with struct: what the golden digests stand on.

FIELDS = ("weights", "adapter", "tenant", "salt", "dtype", "layout", "rope", "block_size")


def framed(tag: bytes, data: bytes) -> bytes:
    return struct.pack("<cQ", tag, len(data)) + data


def encoded(value: bytes | str | int | None) -> bytes:
    if value is None:
        return framed(b"n", b"")
    if isinstance(value, bytes):
        return framed(b"b", value)
    if isinstance(value, str):
        return framed(b"s", value.encode("utf-8"))
    return framed(b"i", struct.pack("<q", value))


def root_by_hand(space: Namespace, generation: int) -> bytes:
    fields = [("schema", 1), ("generation", generation), *((f, getattr(space, f)) for f in FIELDS)]
    body = b"".join(framed(b"f", name.encode()) + encoded(value) for name, value in fields)
    return hashlib.sha256(b"headstart.root\0" + body).digest()


def block_by_hand(parent: bytes, tokens: list[int]) -> bytes:
    packed = struct.pack(f"<I{len(tokens)}I", len(tokens), *tokens)
    return hashlib.sha256(b"headstart.block\0" + parent + packed).digest()


GOLDEN_ROOTS = [
    (namespace(), 0, "66ce8890ae5175d4ca972fe4591f4bd7edcddde478ebe2b24c14ee9d1b352e15"),
    (namespace(), 7, "c744dd2aa06e33b0525ac2a71089bc641d520924d77d0ffcc54f3dcabb44627b"),
    (
        namespace(
            weights=b"\xff" * 32,
            adapter=b"\x01\x02",
            tenant="Zoë",
            salt="",
            dtype="bfloat16",
            layout="",
            rope="llama3 factor=32",
            block_size=16,
        ),
        3,
        "ddb91205d3b69324e322a0156df28098c6e8106f565c98474ed85612c502d489",
    ),
]

GOLDEN_BLOCKS = [
    (bytes(32), [0], "97f7c053fdd84df1afbb67472b31eedb6eb3848cf8f3cc7ad23c8b204dceead6"),
    (bytes(32), [0, 0], "9cd868e75a5cd90f7ce71cc356a52ccbd03751b9f6f008849ca6d6e672a9eedb"),
    (
        b"\xaa" * 32,
        [1, 2, 3, 2**32 - 1],
        "2c4cae159877809f920a9c5d47f3968afcb8a47a1236f5982bb46bb197361724",
    ),
]


@pytest.mark.parametrize(("space", "generation", "digest"), GOLDEN_ROOTS)
def test_roots_are_the_golden_ones(space: Namespace, generation: int, digest: str) -> None:
    assert root_by_hand(space, generation).hex() == digest
    assert space.root(generation).hex() == digest


@pytest.mark.parametrize(("parent", "tokens", "digest"), GOLDEN_BLOCKS)
def test_block_keys_are_the_golden_ones(parent: bytes, tokens: list[int], digest: str) -> None:
    assert block_by_hand(parent, tokens).hex() == digest
    assert block_key(keys.BlockKey(parent), token_bytes(tokens)).hex() == digest


def gate_by_hand(root: bytes, shared: bytes) -> bytes:
    return hashlib.sha256(b"headstart.gate\x00" + root + shared).digest()


def test_a_gates_key_is_the_golden_one() -> None:
    digest = "cf0ebda9db66fe9d6745a32852b44c03dbcec26f81d97b1a29996aba68992a3a"
    assert gate_by_hand(bytes(32), b"\xaa" * 32).hex() == digest
    assert keys.gate_key(keys.BlockKey(bytes(32)), keys.BlockKey(b"\xaa" * 32)).hex() == digest


def test_behind_a_shared_prefix_all_keys_are_the_namespaces_own() -> None:
    shared = Chain(namespace(tenant="everybody"), 2)
    shared.extend(range(8))
    chain = Chain(namespace(), 2, shared)
    chain.extend(range(13))

    prefix = block_by_hand(root_by_hand(namespace(tenant="everybody"), 2), [0, 1, 2, 3])
    prefix = block_by_hand(prefix, [4, 5, 6, 7])
    assert chain.root == gate_by_hand(root_by_hand(namespace(), 2), prefix)
    first = block_by_hand(chain.root, [0, 1, 2, 3])
    assert chain.keys(2) == [first, block_by_hand(first, [4, 5, 6, 7])]
    before = chain.keys(3)[:]
    chain.rebind(3)
    assert shared.generation == 3
    assert not set(before) & set(chain.keys(3))


def test_a_chain_hangs_each_block_on_the_one_before() -> None:
    chain = Chain(namespace(), 2)
    chain.extend([1, 2, 3, 4, 5, 6, 7, 8, 9])

    root = root_by_hand(namespace(), 2)
    first = block_by_hand(root, [1, 2, 3, 4])
    assert chain.root == root
    assert chain.keys(2) == [first, block_by_hand(first, [5, 6, 7, 8])]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"adapter": b"X"}, {"salt": "X"}),
        ({"tenant": "X", "dtype": "Y"}, {"tenant": "Y", "dtype": "X"}),
        ({"tenant": "ab", "salt": "c"}, {"tenant": "a", "salt": "bc"}),
        ({"tenant": "abc", "salt": ""}, {"tenant": "", "salt": "abc"}),
        ({"layout": "ab", "rope": "c"}, {"layout": "a", "rope": "bc"}),
        ({"salt": None}, {"salt": ""}),
        ({"salt": ""}, {"salt": "\0"}),
        ({"adapter": None}, {"adapter": b""}),
        ({"salt": None}, {"salt": "None"}),
        ({"tenant": "acme"}, {"tenant": "acme\0"}),
        ({"tenant": "acme"}, {"tenant": "Acme"}),
        ({"tenant": "é"}, {"tenant": "e\u0301"}),
        ({"tenant": "a"}, {"tenant": "b"}),
        ({"weights": b"\0" * 32}, {"weights": b"\0" * 31}),
        ({"adapter": b"W1"}, {"adapter": b"W2"}),
        ({"dtype": "float32"}, {"dtype": "bfloat16"}),
        ({"rope": "theta=10000"}, {"rope": "theta=500000"}),
        ({"block_size": 4}, {"block_size": 8}),
        # A value made to look like the frame of the next field.
        ({"tenant": "a"}, {"tenant": "a" + framed(b"f", b"salt").decode()}),
    ],
)
def test_namespaces_that_differ_share_no_root(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert namespace(**one).root(0) != namespace(**other).root(0)


def test_a_number_and_the_text_of_it_encode_differently() -> None:
    as_text: Any = "4"
    assert namespace(block_size=4).root(0) != namespace(block_size=as_text).root(0)
    assert namespace(tenant="4").root(0) != namespace(tenant=4).root(0)


def test_generations_share_no_root() -> None:
    assert len({namespace().root(generation) for generation in range(100)}) == 100


def test_token_ids_are_packed_at_full_width() -> None:
    """Else 1 and 1 + 2^16, or [1, 0] and [256], would be one block."""
    packed = {
        token_bytes(tokens) for tokens in ([1, 0], [1 + 2**16, 0], [256], [1], [0, 1], [1, 0, 0])
    }
    assert len(packed) == 6


@pytest.mark.parametrize("token", [-1, 2**32, -(2**32), 2**70])
def test_a_token_id_that_needs_more_than_32_bits_is_refused(token: int) -> None:
    with pytest.raises(OverflowError):
        token_bytes([5, token])


@pytest.mark.parametrize("typecode", ["I", "i", "L", "q", "H"])
def test_lists_tuples_and_arrays_of_one_prompt_have_one_key(typecode: str) -> None:
    tokens = [3, 1, 4, 1, 5]
    assert token_bytes(array(typecode, tokens)) == token_bytes(tokens) == token_bytes((*tokens,))


text = st.text(st.characters(codec="utf-8"), max_size=6)
digests = st.binary(max_size=6)
namespaces = st.builds(
    Namespace,
    weights=digests,
    adapter=st.none() | digests,
    tenant=text,
    salt=st.none() | text,
    dtype=text,
    layout=text,
    rope=text,
    block_size=st.integers(1, 2**31),
)
generations = st.integers(0, 2**31)


@given(namespaces, generations)
def test_every_root_equals_the_documented_encoding(space: Namespace, generation: int) -> None:
    assert space.root(generation) == root_by_hand(space, generation)


@given(st.lists(st.tuples(namespaces, generations), min_size=2, max_size=8, unique=True))
def test_distinct_namespaces_or_generations_have_distinct_roots(
    pairs: list[tuple[Namespace, int]],
) -> None:
    assert len({space.root(generation) for space, generation in pairs}) == len(pairs)


@given(st.lists(namespaces, min_size=2, max_size=4, unique=True), st.integers(1, 3), st.data())
def test_distinct_namespaces_or_prefixes_have_distinct_keys(
    spaces: list[Namespace], size: int, data: st.DataObject
) -> None:
    prompts = data.draw(
        st.lists(st.lists(st.integers(0, 2), max_size=9), min_size=1, max_size=5), label="prompts"
    )
    named: dict[bytes, tuple[Namespace, tuple[int, ...]]] = {}
    for space in {replace(space, block_size=size) for space in spaces}:
        for tokens in prompts:
            chain = Chain(space, 0)
            chain.extend(tokens)
            for at, key in enumerate(chain.keys(len(tokens) // size), start=1):
                prefix = (space, tuple(tokens[: at * size]))
                assert named.setdefault(key, prefix) == prefix


@given(
    st.lists(st.integers(0, 2**32 - 1), max_size=40),
    st.integers(1, 5),
    st.lists(st.integers(0, 40), max_size=5),
)
def test_a_chain_grown_in_pieces_equals_one_made_at_once(
    tokens: list[int], size: int, stops: list[int]
) -> None:
    space = namespace(block_size=size)
    grown, at_once = Chain(space, 0), Chain(space, 0)
    for stop in [*sorted(stops), len(tokens)]:
        grown.extend(array("I", tokens[:stop]))
        grown.keys(min(stop, len(tokens)) // size)
    at_once.extend(tokens)

    assert grown.data == at_once.data == token_bytes(tokens)
    keys_of_all = at_once.keys(len(tokens) // size)
    assert grown.keys(len(tokens) // size) == keys_of_all
    assert len(keys_of_all) == len(tokens) // size


def test_a_partly_filled_block_has_no_key() -> None:
    chain = Chain(namespace(block_size=4), 0)
    chain.extend([1, 2, 3])
    assert chain.keys(1) == []


def test_rebinding_starts_over_in_the_new_generation() -> None:
    chain, fresh = Chain(namespace(), 0), Chain(namespace(), 1)
    chain.extend(range(8))
    old = list(chain.keys(2))
    chain.rebind(1)
    fresh.extend(range(8))

    assert (chain.root, chain.generation) == (fresh.root, 1)
    assert chain.keys(2) == fresh.keys(2)
    assert set(old).isdisjoint(chain.keys(2))


def test_rebinding_keeps_the_tokens() -> None:
    chain = Chain(namespace(), 0)
    chain.extend(range(9))
    chain.rebind(1)
    assert chain.data == token_bytes(range(9))


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_keys_do_not_depend_on_the_hash_seed_of_the_process(seed: str) -> None:
    """Python's own hash() differs between processes: a key made of it misses after a restart."""
    space, generation, digest = GOLDEN_ROOTS[2]
    program = f"from headstart.cache import Namespace; print({space!r}.root({generation}).hex())"
    printed = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.strip() == digest


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths in bytes of what SHA-256 was given, call by call."""
    lengths: list[int] = []

    def counting(data: bytes) -> Any:
        lengths.append(len(data))
        return hashlib.sha256(data)

    monkeypatch.setattr(keys, "sha256", counting)
    return lengths


class Counted(list[int]):
    """Tokens that count how many of them were read."""

    read = 0

    def __getitem__(self, at: Any) -> Any:
        got = super().__getitem__(at)
        self.read += len(got) if isinstance(at, slice) else 1
        return got

    def __iter__(self) -> Any:
        self.read += len(self)
        return super().__iter__()


def test_appending_costs_by_what_is_new_and_not_by_the_history(hashed: list[int]) -> None:
    """Law 11: 300 tokens behind 100,000 hash and read about 300 tokens."""
    tokens = Counted(i % 50_000 for i in range(100_000))
    chain = Chain(namespace(block_size=16), 0)
    hashed.clear()
    chain.extend(tokens)
    chain.keys(100_000 // 16)
    assert len(hashed) == 100_000 // 16

    hashed.clear()
    tokens.read = 0
    tokens.extend(range(300))
    chain.extend(tokens)
    chain.keys(100_300 // 16)
    assert len(hashed) == 100_300 // 16 - 100_000 // 16
    assert sum(hashed) <= len(hashed) * 256
    assert tokens.read <= 300 + 16


def test_a_chain_is_hashed_when_a_key_is_asked_for_and_only_so_far(hashed: list[int]) -> None:
    chain = Chain(namespace(block_size=16), 0)
    hashed.clear()
    chain.extend(range(1000))
    assert hashed == []
    chain.keys(3)
    assert len(hashed) == 3


def test_keys_that_are_known_are_not_hashed_again(hashed: list[int]) -> None:
    chain = Chain(namespace(block_size=16), 0)
    chain.extend(range(1000))
    known = chain.keys(62)
    hashed.clear()
    chain.extend(range(1007))
    chain.keys(62)
    assert chain.keys_behind(known[9], 10, 62) == known[10:62]
    assert hashed == []


def test_keys_behind_a_known_one_cost_only_their_own_blocks(hashed: list[int]) -> None:
    """A conversation that is found by its tokens never hashes its history."""
    chain, whole = Chain(namespace(block_size=16), 0), Chain(namespace(block_size=16), 0)
    for each in (chain, whole):
        each.extend(range(1000))
    parent = whole.keys(62)[39]
    hashed.clear()
    assert chain.keys_behind(parent, 40, 43) == whole.keys(62)[40:43]
    assert len(hashed) == 3


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(1, 4), st.integers(0, 9), st.data())
def test_keys_behind_a_parent_are_those_of_the_whole_chain(
    tokens: list[int], size: int, known: int, data: st.DataObject
) -> None:
    space, full = namespace(block_size=size), len(tokens) // size
    first = data.draw(st.integers(0, full), label="first")
    last = data.draw(st.integers(first, full), label="last")
    chain, whole = Chain(space, 0), Chain(space, 0)
    for each in (chain, whole):
        each.extend(tokens)
    chain.keys(min(known, full))
    expected = whole.keys(full)

    parent = expected[first - 1] if first else whole.root
    assert chain.keys_behind(parent, first, last) == expected[first:last]
    assert chain.keys(full) == expected
