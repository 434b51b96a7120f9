"""KV events as vLLM publishes them (0.33, `vllm/distributed/kv_events.py`): msgpack maps by name.

A payload is the array `[seconds since the epoch, [event, ...], rank]`. Other servers' routers read
it; what they don't know they ignore, and what is left out is null to them.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from headstart.cache import BlockKey, Cleared, Event, Removed, Stored
from headstart.cache.keys import TOKEN_BYTES

Hash = int | bytes | str
HashForm = Literal["int", "bytes", "hex"]
Medium = Literal["CPU", "GPU"]

RANK = 0
"""A replica is one data-parallel rank of one."""


class BlockStored(msgspec.Struct, tag=True, omit_defaults=True, frozen=True):
    """Blocks that follow one another became findable."""

    block_hashes: list[Hash]
    parent_block_hash: Hash | None
    """None where a prompt begins."""
    token_ids: list[int]
    """Of all the blocks; empty where the operator keeps them private."""
    block_size: int
    lora_id: int | None
    """Deprecated in vLLM, always null here: `lora_name` says it."""
    medium: Medium
    lora_name: str | None
    extra_keys: list[list[str] | None] | None = None
    """Per block: what else is in its hash. Not tagged, as in vLLM."""


class BlockRemoved(msgspec.Struct, tag=True, frozen=True):
    """Blocks are no longer findable."""

    block_hashes: list[Hash]
    medium: Medium


class AllBlocksCleared(msgspec.Struct, tag=True, frozen=True):
    """Nothing is findable."""


WireEvent = BlockStored | BlockRemoved | AllBlocksCleared


def low_64_bits(key: BlockKey) -> int:
    """What vLLM sends of a SHA-256 unless told to send all of it."""
    return int.from_bytes(key[-8:], "big")


HASHES: dict[HashForm, Callable[[BlockKey], Hash]] = {
    "int": low_64_bits,
    "bytes": bytes,
    "hex": bytes.hex,
}


@dataclass(frozen=True, slots=True)
class Wire:
    """How this replica's events are written."""

    medium: Medium
    """Where the KV pool is."""
    adapters: Mapping[bytes, str]
    """The loaded adapters' names by their digests."""
    hashes: HashForm = "int"
    private: bool = True
    """Neither token ids nor tenants and salts are told: whoever listens needs no key for it."""

    def payload(self, seconds: float, events: Sequence[Event]) -> bytes:
        """One batch of events, at `seconds` since the epoch."""
        batch: tuple[Any, ...] = (seconds, [self.event(event) for event in events], RANK)
        return msgspec.msgpack.encode(batch)

    def event(self, event: Event) -> WireEvent:
        """One event."""
        match event:
            case Stored():
                return self._stored(event)
            case Removed():
                return BlockRemoved(self._hashes(event.keys), self.medium)
            case Cleared():
                return AllBlocksCleared()

    def _stored(self, event: Stored) -> BlockStored:
        adapter = event.namespace.adapter
        name = None if adapter is None else self.adapters[adapter]
        return BlockStored(
            block_hashes=self._hashes(event.keys),
            parent_block_hash=None if event.parent is None else HASHES[self.hashes](event.parent),
            token_ids=[] if self.private else _token_ids(event.tokens),
            block_size=event.namespace.block_size,
            lora_id=None,
            medium=self.medium,
            lora_name=name,
            extra_keys=self._extra_keys(event, name),
        )

    def _hashes(self, keys: Sequence[BlockKey]) -> list[Hash]:
        return [HASHES[self.hashes](key) for key in keys]

    def _extra_keys(self, event: Stored, adapter: str | None) -> list[list[str] | None] | None:
        """The adapter with every block; salt and tenant with a prompt's first, as in vLLM.

        Behind a prefix that tenants share, with the first that is the tenant's own.
        """
        every = [] if adapter is None else [adapter]
        first = list(every)
        if (event.parent is None or event.gate) and not self.private:
            first += [wall for wall in (event.namespace.salt, event.namespace.tenant) if wall]
        if not first:
            return None
        return [first, *[every or None] * (len(event.keys) - 1)]


def _token_ids(packed: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(packed) // TOKEN_BYTES}I", packed))
