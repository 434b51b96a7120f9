import time
from pathlib import Path
from typing import Any

import pytest
from tests.stores.build import chunk

from headstart.cache import POLICIES, Visit
from headstart.cache.node import Node
from headstart.cache.policies import Lru
from headstart.engine.open_tiers import CHUNK_BYTES, TierError, chunk_blocks, open_tiers
from headstart.settings import Settings
from headstart.stores.inspect import chunks

MIB = 1024**2


@pytest.mark.parametrize(
    ("block_bytes", "block_size", "unit_blocks", "blocks"),
    [
        (16 * 512, 16, 1, 16),  # a tiny model: bounded by tokens
        (512, 1, 1, 256),
        (16 * 23_040, 16, 1, 8),  # the default model: bounded by bytes
        (16 * 23_040, 16, 16, 16),  # deterministic mode's 256 tokens in any case
        (16 * 131_072, 16, 1, 2),  # a 7B model
        (784 * 131_072, 784, 1, 1),  # one block is more than a chunk should be
        (784 * 512, 784, 1, 1),
        (CHUNK_BYTES, 16, 1, 1),
        (CHUNK_BYTES + 1, 16, 1, 1),
    ],
)
def test_a_chunk_is_what_fits_into_its_bytes_and_tokens_but_a_unit_at_least(
    block_bytes: int, block_size: int, unit_blocks: int, blocks: int
) -> None:
    assert chunk_blocks(block_bytes, block_size, unit_blocks) == blocks


def test_nothing_asked_for_is_no_tier() -> None:
    assert open_tiers(Settings(), chunk_bytes=4096) is None


def test_without_a_prefix_cache_there_are_no_tiers(tmp_path: Path) -> None:
    settings = Settings(prefix_cache=False, disk=str(tmp_path), ram_tier_bytes=MIB)
    assert open_tiers(settings, chunk_bytes=4096) is None


def test_tiers_are_asked_from_the_nearest_to_the_farthest(tmp_path: Path) -> None:
    settings = Settings(
        remote=str(tmp_path / "far"), disk=str(tmp_path / "near"), ram_tier_bytes=MIB
    )
    tiers = open_tiers(settings, chunk_bytes=4096)
    assert tiers is not None
    assert [tier.name for tier in tiers.stats()[0]] == ["ram", "disk", "remote"]
    tiers.close(1)


def test_a_server_that_does_not_answer_is_no_error() -> None:
    tiers = open_tiers(Settings(remote="valkey://127.0.0.1:1"), chunk_bytes=4096)
    assert tiers is not None
    tiers.close(1)


@pytest.mark.parametrize("url", ["valkey://", "http://host", "valkey://host/x"])
def test_a_remote_that_makes_no_sense_is_told(url: str) -> None:
    with pytest.raises(TierError, match="--remote"):
        open_tiers(Settings(remote=url), chunk_bytes=4096)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TierError, match="can't be used"):
        open_tiers(Settings(disk=str(tmp_path / "file" / "kv")), chunk_bytes=4096)


def test_the_eviction_policy_chooses_in_the_tiers_too_a_new_one_without_another_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    class Newest(Lru):
        name = "newest"

        def rank(self, leaf: Node) -> int:
            asked.append(self)
            return -leaf.stamp

    monkeypatch.setitem(POLICIES, "newest", Newest)
    settings = Settings(disk=str(tmp_path), ram_tier_bytes=MIB, eviction_policy="newest")
    record = chunk()
    tiers = open_tiers(settings, chunk_bytes=len(record.payload))
    assert tiers is not None
    deadline = time.monotonic() + 10
    while len(set(map(id, asked))) < 2 and time.monotonic() < deadline:
        for tier in tiers._tiers:
            tier.store.put(record, deadline=deadline)  # Declined until the directory is scanned.
            tier.store.used([record.key], 0, Visit())
            tier.store.put(chunk(seed=1), deadline=deadline)
        time.sleep(0.02)
    tiers.close(5.0)
    assert len(set(map(id, asked))) == 2, "one for each tier"


@pytest.mark.parametrize(("name", "codec"), [("raw", 0), ("zstd", 1)])
def test_chunks_are_packed_as_asked(tmp_path: Path, name: Any, codec: int) -> None:
    settings = Settings(disk=str(tmp_path), tier_codec=name)
    record = chunk()
    tiers = open_tiers(settings, chunk_bytes=len(record.payload))
    assert tiers is not None
    deadline = time.monotonic() + 10
    while not list(chunks(tmp_path)) and time.monotonic() < deadline:
        for writer in tiers.takers(0.0):
            writer.put(record, in_order=False)  # Declined until the directory is scanned.
        time.sleep(0.02)
    tiers.close(5.0)
    (found,) = chunks(tmp_path, verify=True)
    assert found.header is not None
    assert (found.header.codec, found.problem) == (codec, "")
