"""What is written is what vLLM's consumers read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cluster.vllm_schema import AllBlocksCleared, BlockRemoved, BlockStored, decode

from headstart.cache import BlockKey, Cleared, Event, Namespace, Removed, Stored
from headstart.cache.keys import token_bytes
from headstart.cluster.kv_events import Wire, low_64_bits

DIGEST = b"a" * 32
VLLM = bytes.fromhex(
    "93cb3ff800000000000093de0009a474797065ab426c6f636b53746f726564ac626c6f636b5f68617368657392cfff"
    "ffffffffffffff07b1706172656e745f626c6f636b5f68617368c0a9746f6b656e5f6964739401020304aa626c6f63"
    "6b5f73697a6502a76c6f72615f6964c0a66d656469756da3475055a96c6f72615f6e616d65a373716caa6578747261"
    "5f6b6579739292a373716ca670657070657291a373716c83a474797065ac426c6f636b52656d6f766564ac626c6f63"
    "6b5f6861736865739107a66d656469756da347505581a474797065b0416c6c426c6f636b73436c656172656400"
)
"""Written by vLLM 0.33's own classes: two blocks of an adapter behind a salt, one of them removed,
then all cleared, on rank 0."""


def key(number: int) -> BlockKey:
    return BlockKey(b"\xee" * 24 + number.to_bytes(8, "big"))


def namespace(**fields: Any) -> Namespace:
    plain: dict[str, Any] = {
        "weights": b"w",
        "adapter": None,
        "tenant": "",
        "salt": None,
        "dtype": "float32",
        "layout": "l",
        "rope": "r",
        "block_size": 2,
    }
    return Namespace(**{**plain, **fields})


def stored(
    numbers: Sequence[int], tokens: Sequence[int], parent: int | None = None, **fields: Any
) -> Stored:
    behind = None if parent is None else key(parent)
    return Stored(namespace(**fields), behind, [key(n) for n in numbers], token_bytes(tokens))


def read(wire: Wire, *events: Event) -> list[Any]:
    return list(decode(wire.payload(0.0, events)).events)


def test_a_batch_says_what_vllm_would_say() -> None:
    wire = Wire("GPU", {DIGEST: "sql"}, private=False)
    events = [
        stored([2**64 - 1, 7], [1, 2, 3, 4], adapter=DIGEST, salt="pepper"),
        Removed([key(7)]),
        Cleared(),
    ]
    assert msgspec.msgpack.decode(wire.payload(1.5, events)) == msgspec.msgpack.decode(VLLM)


def test_every_event_decodes_by_vllms_fields() -> None:
    events = read(Wire("CPU", {}), stored([8, 9], [1, 2, 3, 4], 7), Removed([key(9)]), Cleared())
    assert events == [
        BlockStored([8, 9], 7, [], 2, None, "CPU", None),
        BlockRemoved([9], "CPU"),
        AllBlocksCleared(),
    ]


def test_fields_without_a_default_are_sent_also_when_they_are_null() -> None:
    payload = Wire("CPU", {}).payload(0.0, [stored([8], [1, 2])])
    (event,) = msgspec.msgpack.decode(payload)[1]
    assert event["lora_id"] is event["lora_name"] is event["parent_block_hash"] is None
    assert "extra_keys" not in event


def test_a_hash_is_the_keys_low_64_bits_or_all_of_it() -> None:
    whole = BlockKey(bytes(range(32)))
    event = Stored(namespace(), whole, [whole], token_bytes([1, 2]))
    (low,) = read(Wire("CPU", {}), event)
    (all_of_it,) = read(Wire("CPU", {}, hashes="bytes"), event)
    assert low.block_hashes == [low.parent_block_hash] == [0x18191A1B1C1D1E1F]
    assert all_of_it.block_hashes == [all_of_it.parent_block_hash] == [bytes(range(32))]


@pytest.mark.parametrize("wall", [{"tenant": "acme"}, {"salt": "acme"}])
def test_tokens_tenants_and_salts_are_told_only_when_asked(wall: dict[str, str]) -> None:
    event = stored([8, 9], [70_001, 70_002, 70_003, 70_004], **wall)
    (private,) = read(Wire("CPU", {}), event)
    (asked,) = read(Wire("CPU", {}, private=False), event)
    assert (private.token_ids, private.extra_keys) == ([], None)
    assert asked.token_ids == [70_001, 70_002, 70_003, 70_004]
    assert asked.extra_keys == [("acme",), None]


def test_a_wall_is_named_at_a_prompts_beginning_and_an_adapter_at_every_block() -> None:
    wire = Wire("CPU", {DIGEST: "sql"}, private=False)
    fields: dict[str, Any] = {"adapter": DIGEST, "salt": "pepper", "tenant": "acme"}
    first, later = read(
        wire,
        stored([1, 2], [1, 2, 3, 4], **fields),
        stored([3, 4], [5, 6, 7, 8], 2, **fields),
    )
    assert first.extra_keys == [("sql", "pepper", "acme"), ("sql",)]
    assert later.extra_keys == [("sql",), ("sql",)]
    assert (first.lora_name, later.lora_name) == ("sql", "sql")


def test_behind_what_tenants_share_the_wall_is_named_where_it_stands() -> None:
    behind = replace(stored([3, 4], [5, 6, 7, 8], 2, tenant="acme"), gate=True)
    (told,) = read(Wire("CPU", {}, private=False), behind)
    (private,) = read(Wire("CPU", {}), behind)
    assert (told.extra_keys, private.extra_keys) == ([("acme",), None], None)


@given(
    count=st.integers(1, 5),
    data=st.data(),
    parent=st.none() | st.binary(min_size=32, max_size=32),
    adapter=st.sampled_from([None, DIGEST]),
    private=st.booleans(),
)
def test_any_stored_blocks_come_through(
    count: int, data: st.DataObject, parent: Any, adapter: Any, private: bool
) -> None:
    size = 3
    ids = data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=count * 3, max_size=count * 3))
    keys = data.draw(st.lists(st.binary(min_size=32, max_size=32), min_size=count, max_size=count))
    event = Stored(namespace(block_size=size, adapter=adapter), parent, keys, token_bytes(ids))
    (found,) = read(Wire("GPU", {DIGEST: "sql"}, private=private), event)
    assert found.block_hashes == [low_64_bits(BlockKey(each)) for each in keys]
    assert found.parent_block_hash == (None if parent is None else low_64_bits(parent))
    assert found.token_ids == ([] if private else ids)
    assert found.block_size == size
    assert found.extra_keys == (None if adapter is None else [("sql",)] * count)
