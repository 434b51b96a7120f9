"""The memory of file digests: it may save time, it may never answer for another content."""

import json
import os
from pathlib import Path

import pytest

from headstart.model.config import ModelConfig, RopeConfig
from headstart.model.digest import checkpoint_digest

CONFIG = ModelConfig(
    family="llama",
    vocab_size=8,
    hidden_size=8,
    layers=1,
    query_heads=1,
    kv_heads=1,
    head_dim=8,
    ffn_size=8,
    context_length=8,
    norm_eps=1e-6,
    rope=RopeConfig(10_000.0),
    tied_head=True,
    qkv_bias=False,
    qk_norm=False,
    eos_ids=(),
    bos_id=None,
)


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """65 MiB of nothing, which the disk does not really hold."""
    path = tmp_path / "model.safetensors"
    with path.open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    return path


def flip_last_byte(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(-1, os.SEEK_END)
        opened.write(b"\x01")


def test_a_big_files_digest_is_remembered(big: Path, tmp_path: Path) -> None:
    before = checkpoint_digest([big], CONFIG, tmp_path / "cache")
    (entry,) = (tmp_path / "cache").iterdir()
    entry.write_text(json.dumps({**json.loads(entry.read_text()), "sha256": "00" * 32}))
    assert checkpoint_digest([big], CONFIG, tmp_path / "cache") != before, "entry was not used"


def test_a_change_that_keeps_size_and_time_is_noticed_id(big: Path, tmp_path: Path) -> None:
    before, stat = checkpoint_digest([big], CONFIG, tmp_path / "cache"), big.stat()
    flip_last_byte(big)
    os.utime(big, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert big.stat().st_mtime_ns == stat.st_mtime_ns
    assert checkpoint_digest([big], CONFIG, tmp_path / "cache") != before


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"state": 1}'])
def test_a_damaged_entry_is_ignored_and_mended(big: Path, tmp_path: Path, damage: str) -> None:
    before = checkpoint_digest([big], CONFIG, tmp_path / "cache")
    (entry,) = (tmp_path / "cache").iterdir()
    whole = entry.read_text()
    entry.write_text(damage)
    assert checkpoint_digest([big], CONFIG, tmp_path / "cache") == before
    assert entry.read_text() == whole


def test_without_a_writable_cache_there_is_a_digest_all_the_same(big: Path, tmp_path: Path) -> None:
    (tmp_path / "in the way").touch()
    expected = checkpoint_digest([big], CONFIG, tmp_path / "cache")
    assert checkpoint_digest([big], CONFIG, tmp_path / "in the way") == expected


def test_a_small_file_leaves_no_entry(tmp_path: Path) -> None:
    small = tmp_path / "model.safetensors"
    small.write_bytes(b"weights")
    before = checkpoint_digest([small], CONFIG, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    flip_last_byte(small)
    assert checkpoint_digest([small], CONFIG, tmp_path / "cache") != before
