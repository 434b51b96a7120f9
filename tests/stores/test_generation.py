from pathlib import Path

import pytest

from headstart.stores.generation import read_generation, write_generation

FRESH = 1_700_000_000_000_000_000


def test_a_folder_that_never_saw_a_reset_is_of_generation_0(tmp_path: Path) -> None:
    assert read_generation(tmp_path, FRESH) == 0
    assert read_generation(tmp_path / "not there", FRESH) == 0
    assert list(tmp_path.iterdir()) == []


def test_what_was_written_last_is_read(tmp_path: Path) -> None:
    for number in (1, 2, 2**62):
        write_generation(tmp_path / "kv", number)
        assert read_generation(tmp_path / "kv", FRESH) == number
    assert [path.name for path in (tmp_path / "kv").iterdir()] == ["generation"]


@pytest.mark.parametrize(
    "damage", [b"", b"\xff\x00", b"1 2", b"-1", b"9" * 30, b"x" * 10_000], ids=repr
)
def test_a_damaged_number_becomes_one_that_never_was_and_stays_it(
    tmp_path: Path, damage: bytes
) -> None:
    (tmp_path / "generation").write_bytes(damage)
    assert read_generation(tmp_path, FRESH) == FRESH
    assert read_generation(tmp_path, FRESH + 1) == FRESH


def test_a_number_that_cannot_be_read_brings_nothing_back(tmp_path: Path) -> None:
    (tmp_path / "generation").mkdir()
    assert read_generation(tmp_path, FRESH) == FRESH


def test_a_reset_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "kv").write_text("a file")
    with pytest.raises(OSError, match="kv"):
        write_generation(tmp_path / "kv", 1)
