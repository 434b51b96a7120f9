"""The one key function: what a block is called, everywhere.

A key is SHA-256 over a canonical encoding: every field is type-tagged and length-framed, so two
different inputs can't encode alike, and the same input encodes alike in every process and release.
`tests/cache/test_keys.py` pins golden vectors; changing any of them needs a new SCHEMA.

    root  = H("headstart.root"  | schema | every Namespace field by name)
    block = H("headstart.block" | parent key | n | n token ids as u32 little-endian)
    gate  = H("headstart.gate"  | root | key of a shared prefix)

The chain makes a key stand for the whole prefix that ends in its block. A gate takes the root's
place where a prompt begins with a prefix that tenants share.
"""

import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import NewType

BlockKey = NewType("BlockKey", bytes)

SCHEMA = 1
TOKEN_BYTES = 4

_BLOCK_TAG = b"headstart.block\x00"
_GATE_TAG = b"headstart.gate\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """Everything besides the tokens that shapes KV or decides who may see it."""

    weights: bytes
    """Content digest of the model's weights."""
    adapter: bytes | None
    """Content digest of the LoRA adapter; None is the base model. Never a name or a load order."""
    tenant: str
    """From the credential, never from the request body."""
    salt: str | None
    """A further wall the client asks for within its tenant. None differs from ""."""
    dtype: str
    layout: str
    """Shape and order of one block's KV, and whatever numerics the engine promises for it."""
    rope: str
    """Position encoding, scaling included."""
    block_size: int

    @lru_cache(maxsize=1024)  # noqa: B019 (plain data, and the cache is bounded)
    def root(self, generation: int) -> BlockKey:
        """The parent of every first block. A new generation makes all old keys unreachable."""
        digest = sha256(b"headstart.root\x00")
        for name, value in (
            ("schema", SCHEMA),
            ("generation", generation),
            ("weights", self.weights),
            ("adapter", self.adapter),
            ("tenant", self.tenant),
            ("salt", self.salt),
            ("dtype", self.dtype),
            ("layout", self.layout),
            ("rope", self.rope),
            ("block_size", self.block_size),
        ):
            digest.update(_framed(b"f", name.encode()))
            digest.update(_encode(value))
        return BlockKey(digest.digest())


def _framed(tag: bytes, data: bytes) -> bytes:
    return tag + len(data).to_bytes(8, "little") + data


def _encode(value: bytes | str | int | None) -> bytes:
    match value:
        case None:
            return _framed(b"n", b"")
        case bytes():
            return _framed(b"b", value)
        case str():
            return _framed(b"s", value.encode())
        case int():
            return _framed(b"i", value.to_bytes(8, "little", signed=True))


def token_bytes(tokens: Sequence[int]) -> bytes:
    """Token ids as u32 little-endian. Raises OverflowError for an id outside 0..2^32-1."""
    packed = tokens if isinstance(tokens, array) and tokens.typecode == "I" else array("I", tokens)
    if sys.byteorder == "big":
        packed = array("I", packed)
        packed.byteswap()
    return packed.tobytes()


def block_key(parent: BlockKey, tokens: bytes) -> BlockKey:
    """The key of the block that holds `tokens` (as `token_bytes` packs them) behind `parent`."""
    count = (len(tokens) // TOKEN_BYTES).to_bytes(4, "little")
    return BlockKey(sha256(_BLOCK_TAG + parent + count + tokens).digest())


def gate_key(root: BlockKey, shared: BlockKey) -> BlockKey:
    """What stands for `root` in prompts that begin with the prefix `shared` of another namespace.

    The same prompt may also lie whole behind `root`, where it was not known yet to begin so.
    """
    return BlockKey(sha256(_GATE_TAG + root + shared).digest())


def block_keys(parent: BlockKey, tokens: bytes, block_size: int) -> list[BlockKey]:
    """The keys of the full blocks that `tokens` (packed) fill behind `parent`.

    `block_key` of each, written out: this is what every new block of every prompt costs.
    """
    width = block_size * TOKEN_BYTES
    count = block_size.to_bytes(4, "little")
    keys: list[BlockKey] = []
    for start in range(0, len(tokens) - width + 1, width):
        block = tokens[start : start + width]
        parent = BlockKey(sha256(_BLOCK_TAG + parent + count + block).digest())
        keys.append(parent)
    return keys


class Chain:
    """One growing sequence as the cache knows it. Everything in it is computed once, when asked.

    `shared`: the prefix it begins with, in whole blocks, where that lies in another namespace.
    """

    __slots__ = ("_keys", "data", "generation", "namespace", "root", "shared")

    def __init__(
        self, namespace: Namespace, generation: int, shared: "Chain | None" = None
    ) -> None:
        self.namespace = namespace
        self.shared = shared
        self._keys: list[BlockKey] = []
        self.data = bytearray()
        """The tokens so far, packed."""
        self.rebind(generation)

    def rebind(self, generation: int) -> None:
        """Move to another generation: the tokens stay, every key changes."""
        self.generation = generation
        self.root = self.namespace.root(generation)
        self._keys.clear()
        if self.shared is not None:
            if self.shared.generation != generation:
                self.shared.rebind(generation)
            self.root = gate_key(self.root, self.shared.keys(self.border)[-1])

    @property
    def border(self) -> int:
        """Leading blocks that lie in another namespace."""
        return 0 if self.shared is None else len(self.shared.data) // self.width

    @property
    def width(self) -> int:
        """Bytes of a block's packed tokens."""
        return self.namespace.block_size * TOKEN_BYTES

    def extend(self, tokens: Sequence[int]) -> None:
        """Take over what `tokens`, the whole sequence so far, has gained since the last time."""
        done = len(self.data) // TOKEN_BYTES
        if len(tokens) <= done:
            return
        if isinstance(tokens, array) and tokens.typecode == "I" and sys.byteorder == "little":
            self.data += memoryview(tokens)[done:].cast("B")  # One copy, not three.
        else:
            self.data += token_bytes(tokens[done:])

    def keys(self, count: int) -> list[BlockKey]:
        """At least the first `count` keys; [i] names the prefix of i + 1 blocks.

        All are its own namespace's: what lies in another one has keys of its own there too.
        """
        size = self.namespace.block_size
        done = len(self._keys)
        if count > done:
            width = size * TOKEN_BYTES
            parent = self._keys[-1] if self._keys else self.root
            fresh = bytes(self.data[done * width : count * width])
            self._keys += block_keys(parent, fresh, size)
        return self._keys

    def keys_behind(self, parent: BlockKey, first: int, last: int) -> list[BlockKey]:
        """The keys of blocks `first` to `last`, given the key they are chained to."""
        if last <= len(self._keys):
            return self._keys[first:last]
        size = self.namespace.block_size
        width = size * TOKEN_BYTES
        return block_keys(parent, bytes(self.data[first * width : last * width]), size)
