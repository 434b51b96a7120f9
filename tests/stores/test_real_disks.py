"""Real file systems that are full or read-only, in a mount namespace of their own.

Skipped where mounting isn't permitted; `test_folder.py` has the same cases with errors made up.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def unshare() -> list[str] | None:
    """The command that may mount, as root or as root of a user namespace."""
    for command in (["unshare", "-m"], ["unshare", "-rm"]):
        try:
            probe = [*command, "mount", "-t", "tmpfs", "none", "/tmp"]
            if subprocess.run(probe, capture_output=True).returncode == 0:
                return command
        except OSError:
            break
    return None


MAY_MOUNT = unshare()
pytestmark = pytest.mark.skipif(MAY_MOUNT is None, reason="mounting isn't permitted here")


def run(setup: str, script: str, folder: Path) -> None:
    """Run `script`, with `root` as its folder, after the shell commands of `setup`."""
    code = textwrap.dedent(
        """
        import os, subprocess, sys
        from pathlib import Path
        from tests.stores.build import *
        root = Path(sys.argv[1])
        clock = Clock()
        """
    ) + textwrap.dedent(script)
    shell = f'set -e; {setup}; exec "$0" -c "$1" "$D"'
    command = [*(MAY_MOUNT or []), "sh", "-c", shell, sys.executable, code]
    environment = {"D": str(folder), "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'src'}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_small_tmpfs_is_used_up_and_then_over_again(tmp_path: Path) -> None:
    run(
        'mount -t tmpfs -o size=1m none "$D"',
        """
        store = disk_store(root, clock)
        for seed in range(30):
            record = chunk(seed=seed, size=100_000)
            assert store.put(record, deadline=NEVER)
            assert store.get(SPACE, record.key, deadline=NEVER) == record
        assert "full" not in store.stats().counts
        assert store.stats().chunks > 5
        """,
        tmp_path,
    )


def test_a_write_that_finds_the_disk_full_declines_and_leaves_nothing(tmp_path: Path) -> None:
    run(
        'mount -t tmpfs -o size=1m none "$D"',
        """
        from tests.stores.faults import FaultyFiles
        files = FaultyFiles()
        files.free = 1 << 40  # as when another process takes the space meanwhile
        store = disk_store(root, clock, files=files)
        records = [chunk(seed=seed, size=100_000) for seed in range(30)]
        results = [store.put(record, deadline=NEVER) for record in records]
        assert results[0] and not all(results), results
        assert store.stats().counts["full"] > 0
        assert list(root.glob("tmp/*")) == []
        for record in records:
            assert store.get(SPACE, record.key, deadline=NEVER) in (None, record)
        clock.now += 30
        assert store.put(records[-1], deadline=NEVER)
        assert store.get(SPACE, records[-1].key, deadline=NEVER) == records[-1]
        assert store.stats().bytes == physical(root)
        """,
        tmp_path,
    )


def test_a_small_tmpfs_with_a_floor_is_never_filled(tmp_path: Path) -> None:
    run(
        'mount -t tmpfs -o size=1m none "$D"',
        """
        store = disk_store(root, clock, min_free=300_000)
        for seed in range(30):
            assert store.put(chunk(seed=seed, size=100_000), deadline=NEVER)
            state = os.statvfs(root)
            assert state.f_bavail * state.f_frsize >= 300_000 - 16_384
        assert "full" not in store.stats().counts
        assert store.stats().counts["evicted"] > 20
        """,
        tmp_path,
    )


def test_a_read_only_mount_is_read_and_not_written(tmp_path: Path) -> None:
    run(
        'mount -t tmpfs none "$D"',
        """
        stored = [chunk(seed=seed) for seed in range(3)]
        before = disk_store(root, clock)
        assert all(before.put(record, deadline=NEVER) for record in stored)
        path_of(root, stored[2]).write_bytes(b"damaged")
        subprocess.run(["mount", "-o", "remount,ro", str(root)], check=True)
        clock.now += 1000
        for store in (before, disk_store(root, clock)):
            assert [store.get(SPACE, r.key, deadline=NEVER) for r in stored] == [*stored[:2], None]
            assert not store.put(chunk(seed=9), deadline=NEVER)
            assert store.stats().counts["read_only"] == 1
        subprocess.run(["mount", "-o", "remount,rw", str(root)], check=True)
        clock.now += 300
        assert before.put(chunk(seed=9), deadline=NEVER)
        """,
        tmp_path,
    )


def test_a_folder_that_cannot_be_made_declines(tmp_path: Path) -> None:
    run(
        'mount -t tmpfs -o ro none "$D"',
        """
        store = disk_store(root / "kv", clock)
        assert not store.put(chunk(), deadline=NEVER)
        assert store.get(SPACE, chunk().key, deadline=NEVER) is None
        assert store.stats().counts["read_only"] == 1
        """,
        tmp_path,
    )
