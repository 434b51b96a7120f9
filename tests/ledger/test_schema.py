import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from headstart.ledger import LedgerError, default_path
from headstart.ledger.schema import VERSION, check, open_for_reading, open_for_writing


def make(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


def test_a_ledger_is_made_once_and_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "ledger.db"
    check(path)

    for _ in range(2):
        with closing(open_for_writing(path)) as connection:
            connection.execute("SELECT count(*) FROM requests")
            mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
            assert mode == "wal"
            assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
    check(path)


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "private" / "ledger.db"

    open_for_writing(path).close()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("opening", [check, open_for_writing, open_for_reading])
def test_a_foreign_file_is_refused_in_one_line_and_stays_as_it_was(
    tmp_path: Path, opening: object
) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("not a database, but long enough to look like a file" * 100)
    make(other, "CREATE TABLE t (x)")

    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(LedgerError, match=f"{path} is no ledger of headstart") as caught:
            opening(path)  # type: ignore[operator]
        assert "\n" not in str(caught.value)
        assert path.read_bytes() == before
        assert {each.name for each in tmp_path.iterdir()} == {"notes.txt", "other.db"}


@pytest.mark.parametrize("opening", [check, open_for_writing, open_for_reading])
@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1])
def test_a_ledger_of_another_version_is_refused_with_both_versions(
    tmp_path: Path, opening: object, version: int
) -> None:
    path = tmp_path / "ledger.db"
    open_for_writing(path).close()
    make(path, f"PRAGMA user_version = {version}")

    with pytest.raises(LedgerError, match=f"version {version}; this headstart needs {VERSION}"):
        opening(path)  # type: ignore[operator]


def test_what_is_not_there_or_empty_is_no_ledger_to_read(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="There is no ledger"):
        open_for_reading(tmp_path / "absent.db")

    empty = tmp_path / "empty.db"
    empty.touch()
    check(empty)
    with pytest.raises(LedgerError, match="is empty"):
        open_for_reading(empty)


def test_a_directory_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="is no file"):
        check(tmp_path)


def test_the_default_lies_in_the_users_state_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere")

    assert default_path() == Path("/somewhere/headstart/ledger.db")
