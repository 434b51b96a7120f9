"""The one key function: what a block is called, everywhere.

A key is SHA-256 over a canonical encoding: every field is type-tagged and length-framed, so two
different inputs can't encode alike, and the same input encodes alike in every process and release.
`tests/cache/test_keys.py` pins golden vectors; changing any of them needs a new SCHEMA.

    root  = H("headstart.root"  | schema | every Namespace field by name)
    block = H("headstart.block" | parent key | n | n token ids as u32 little-endian)

The chain makes a key stand for the whole prefix that ends in its block.
"""

import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NewType

BlockKey = NewType("BlockKey", bytes)

SCHEMA = 1
TOKEN_BYTES = 4

_BLOCK_TAG = b"headstart.block\x00"


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


class KeyChain:
    """The keys of one growing sequence, each computed once: extending costs by the new tokens."""

    __slots__ = ("_namespace", "generation", "keys", "root")

    def __init__(self, namespace: Namespace, generation: int) -> None:
        self._namespace = namespace
        self.keys: list[BlockKey] = []
        """keys[i] names the prefix of (i + 1) * block_size tokens."""
        self.rebind(generation)

    def rebind(self, generation: int) -> None:
        """Start over in another generation."""
        self.generation = generation
        self.root = self._namespace.root(generation)
        self.keys.clear()

    def extend(self, tokens: Sequence[int]) -> None:
        """Add the keys of the blocks that `tokens`, the whole sequence so far, has filled since."""
        size = self._namespace.block_size
        done = len(self.keys)
        full = len(tokens) // size
        if full <= done:
            return
        data = token_bytes(tokens[done * size : full * size])
        width = size * TOKEN_BYTES
        parent = self.keys[-1] if self.keys else self.root
        for start in range(0, len(data), width):
            parent = block_key(parent, data[start : start + width])
            self.keys.append(parent)
