"""`headstart cache`, as it is run."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from tests.stores.build import NEVER, OTHER, Clock, chain, chunk_files, folder_store
from typer.testing import CliRunner

from headstart.cli import app

DAY = 86_400


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three chunks of one namespace and two of another; all but one unused for ten days."""
    store = folder_store(tmp_path / "kv", Clock())
    for record in chain(3) + chain(2, space=OTHER):
        store.put(record, deadline=NEVER)
    for path in chunk_files(store.root)[1:]:
        os.utime(path, (time.time() - 10 * DAY,) * 2)
    return store.root


def cache(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, ["cache", *map(str, arguments)])


def test_ls_tells_what_each_namespace_holds(root: Path) -> None:
    listed = json.loads(cache("ls", root, "--json").stdout)
    assert sorted(each["chunks"] for each in listed) == [2, 3]
    assert all(each["damaged"] == 0 for each in listed)


def test_verify_names_what_is_damaged_and_is_a_finding(root: Path) -> None:
    assert cache("verify", root).output == "5 chunks, 0 damaged\n"
    bad = chunk_files(root)[2]
    data = bytearray(bad.read_bytes())
    data[-1] ^= 1
    bad.write_bytes(data)
    result = cache("verify", root)
    assert result.exit_code == 1
    assert str(bad) in result.stderr
    assert result.stdout == "5 chunks, 1 damaged\n"


def test_prune_removes_what_was_long_unused_but_not_in_a_dry_run(root: Path) -> None:
    week = ("--unused-for", str(7 * DAY))
    assert cache("prune", root, *week, "--dry-run").stdout.startswith("4 chunks, ")
    assert len(chunk_files(root)) == 5
    assert cache("prune", root, *week).exit_code == 0
    assert len(chunk_files(root)) == 1


def test_prune_wants_a_limit(root: Path) -> None:
    result = cache("prune", root)
    assert result.exit_code == 2
    assert "say what to remove" in result.stderr
    assert len(chunk_files(root)) == 5


def test_what_is_exported_can_be_imported(root: Path, tmp_path: Path) -> None:
    archive, other = tmp_path / "kv.tar", tmp_path / "other"
    assert cache("export", root, archive).exit_code == 0
    assert cache("import", other, archive).stdout.startswith("5 chunks taken over, 0 ")
    assert len(chunk_files(other)) == 5


def test_import_tells_what_had_no_room(root: Path, tmp_path: Path) -> None:
    archive = tmp_path / "kv.tar"
    cache("export", root, archive)
    result = cache("import", tmp_path / "small", archive, "--max-bytes", "1")
    assert result.exit_code == 1
    assert result.stdout.startswith("0 chunks taken over, 5 without room")
