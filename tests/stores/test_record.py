import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stores.build import OTHER, SPACE, Rough, chain, chunk, namespace

from headstart.cache.keys import BlockKey
from headstart.stores import PersistentNamespace, Record, Zstd, persistable
from headstart.stores.codec import FP8, INT8, Codec, Raw
from headstart.stores.errors import Corrupt, Foreign, StoreError, Truncated, Unfit, WrongVersion
from headstart.stores.record import (
    MAGIC,
    PAGE,
    encode,
    fill_from,
    read_header,
    read_packed,
    read_record,
)

CODECS = [Raw(), Zstd()]


def written(record: Record, codec: Codec | None = None) -> bytes:
    header, stored = encode(record, codec or Raw())
    return header + bytes(stored)


def read(
    data: bytes,
    record: Record,
    space: PersistentNamespace = SPACE,
    key: BlockKey | None = None,
) -> Record:
    return read_record(fill_from(data), len(data), space, key or record.key)


@pytest.mark.parametrize("codec", CODECS, ids=["raw", "zstd"])
@pytest.mark.parametrize("blocks", [1, 2, 300])
def test_what_was_written_is_read(codec: Codec, blocks: int) -> None:
    for record in chain(2, blocks=blocks):
        assert read(written(record, codec), record) == record


@given(st.binary(max_size=9000), st.integers(1, 5), st.sampled_from(CODECS))
def test_any_payload_survives(payload: bytes, blocks: int, codec: Codec) -> None:
    record = dataclasses.replace(chunk(blocks=blocks), payload=payload)
    assert read(written(record, codec), record) == record


@pytest.mark.parametrize("blocks", [1, 200, 1000])
def test_the_payload_begins_on_a_page(blocks: int) -> None:
    header, stored = encode(chunk(blocks=blocks), Raw())
    assert len(header) % PAGE == 0
    assert len(header) - PAGE < 16 * blocks + 1000
    assert len(stored) == 5000


def test_a_raw_payload_is_not_copied_when_written() -> None:
    record = chunk()
    _, stored = encode(record, Raw())
    assert isinstance(stored, memoryview)
    assert stored.obj is record.payload


@pytest.mark.slow
@pytest.mark.parametrize("codec", CODECS, ids=["raw", "zstd"])
def test_no_flipped_bit_is_ever_accepted(codec: Codec) -> None:
    record = chunk(size=300)
    data = bytearray(written(record, codec))
    for bit in range(8 * len(data)):
        data[bit // 8] ^= 1 << bit % 8
        with pytest.raises((Corrupt, WrongVersion, Truncated)):
            read(bytes(data), record)
        data[bit // 8] ^= 1 << bit % 8


@given(st.data())
def test_no_run_of_wrong_bytes_is_ever_accepted(draw: st.DataObject) -> None:
    record = chunk(size=500)
    data = written(record)
    start = draw.draw(st.integers(0, len(data) - 1))
    wrong = draw.draw(st.binary(min_size=1, max_size=200))
    changed = (data[:start] + wrong + data[start + len(wrong) :])[: len(data)]
    if changed == data:
        assert read(changed, record) == record
    else:
        with pytest.raises(StoreError):
            read(changed, record)


@pytest.mark.parametrize("codec", CODECS, ids=["raw", "zstd"])
def test_no_truncation_is_ever_accepted(codec: Codec) -> None:
    record = chunk(size=300)
    data = written(record, codec)
    for length in range(len(data)):
        with pytest.raises(Truncated):
            read(data[:length], record)


def test_what_follows_a_record_makes_it_invalid() -> None:
    record = chunk()
    with pytest.raises(Corrupt, match="follows"):
        read(written(record) + b"x", record)


@given(st.binary(max_size=3 * PAGE))
def test_noise_is_refused(noise: bytes) -> None:
    for data in (noise, MAGIC + noise, MAGIC + b"\x01\x00\x00\x00\x00\x10\x00\x00" + noise):
        with pytest.raises(StoreError):
            read_header(fill_from(data), len(data))


def test_another_namespaces_record_is_foreign() -> None:
    record = chunk(space=OTHER)
    with pytest.raises(Foreign, match="namespace"):
        read(written(record), record)


def test_another_keys_record_is_foreign() -> None:
    first, second = chain(2)
    with pytest.raises(Foreign, match="key"):
        read(written(second), first)


def test_another_format_is_told_from_damage() -> None:
    record = chunk()
    data = bytearray(written(record))
    data[len(MAGIC)] = 2
    with pytest.raises(WrongVersion, match="format 2"):
        read(bytes(data), record)


@pytest.mark.parametrize("codec_id", [4, 9])
def test_a_codec_that_is_not_known_yet_is_another_version(codec_id: int) -> None:
    class Later(Raw):
        id = codec_id

    record = chunk()
    with pytest.raises(WrongVersion, match=f"codec {codec_id}"):
        read(written(record, Later()), record)


def test_a_record_that_says_otherwise_of_its_codec_is_refused() -> None:
    class Lying(Raw):
        lossy = True

    record = chunk()
    with pytest.raises(WrongVersion, match="keep every bit"):
        read(written(record, Lying()), record)


@pytest.mark.parametrize("codec_id", [INT8, FP8])
def test_a_lossy_record_is_read_by_nobody_but_who_allows_it(codec_id: int) -> None:
    record, codec = chunk(), Rough(codec_id)
    data = written(record, codec)
    assert read_header(fill_from(data), len(data)).lossy
    with pytest.raises(WrongVersion, match="allowed"):
        read(data, record)
    with pytest.raises(WrongVersion, match="allowed"):
        read_record(fill_from(data), len(data), SPACE, record.key, codec=Rough(5 - codec_id))
    found = read_record(fill_from(data), len(data), SPACE, record.key, codec=codec)
    assert found.payload == bytes(byte & 0xF0 for byte in bytes(record.payload))


def test_a_record_carried_on_packed_is_the_same_record_bit_for_bit() -> None:
    record = chunk()
    for codec in (Raw(), Zstd(), Rough(INT8)):
        data = written(record, codec)
        header = read_header(fill_from(data), len(data))
        carried = read_packed(fill_from(data[header.length :]), header)
        assert written(carried, Raw()) == data


def test_damage_is_noticed_without_unpacking() -> None:
    data = bytearray(written(chunk(), Rough(INT8)))
    data[-1] ^= 1
    header = read_header(fill_from(data), len(data))
    with pytest.raises(Corrupt, match="payload"):
        read_packed(fill_from(data[header.length :]), header)


def test_the_buffer_must_have_the_payloads_length() -> None:
    record = chunk()
    data = written(record)
    with pytest.raises(Unfit):
        read_record(fill_from(data), len(data), SPACE, record.key, memoryview(bytearray(4999)))


def test_a_header_needs_no_payload_to_be_read() -> None:
    record = chunk(size=100_000)
    data = written(record)
    header = read_header(fill_from(data[:PAGE]), len(data))
    assert header.record == dataclasses.replace(record, payload=b"")
    assert (header.stored_length, header.raw_length) == (100_000, 100_000)


def test_the_generation_is_in_the_key_alone() -> None:
    space = persistable(namespace())
    assert chunk(space=space).parent == space.namespace.root(0)
    assert b"generation" not in space.text
