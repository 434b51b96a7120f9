"""kill -9 at any moment leaves whole records and temps, nothing else."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.stores.build import NEVER, SPACE, Clock, chunk, chunk_files, disk_store
from tests.stores.writer import SIZE

from headstart.stores.inspect import chunks

REPOSITORY = Path(__file__).parents[2]


def killed_writers(root: Path, times: int) -> Iterator[list[int]]:
    """Run the writer and kill it, `times` times; each time the seeds it said it had stored."""
    draw = random.Random(7)
    for run in range(times):
        writer = subprocess.Popen(
            [sys.executable, "-m", "tests.stores.writer", str(root), str(run * 100_000)],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout is not None
        said = [writer.stdout.readline()]
        time.sleep(draw.uniform(0, 0.03))
        writer.kill()
        said += writer.stdout.readlines()
        writer.wait()
        writer.stdout.close()
        yield [int(line) for line in said if line.endswith("\n")]


def hold_the_promise(root: Path, times: int) -> None:
    stored = [seed for seeds in killed_writers(root, times) for seed in seeds]
    assert len(stored) >= times
    assert [chunk.problem for chunk in chunks(root, verify=True) if chunk.problem] == []
    assert list(root.glob("tmp/*")) != [], "no writer was killed while it wrote"
    clock = Clock()
    clock.wall = lambda: time.time_ns() + 60 * 10**9  # type: ignore[method-assign]
    store = disk_store(root, clock)
    for seed in stored:
        record = chunk(seed=seed, size=SIZE)
        assert store.get(SPACE, record.key, deadline=NEVER) == record
    assert list(root.glob("tmp/*")) == []
    others = {path for path in root.rglob("*") if path.is_file()} - set(chunk_files(root))
    assert others == {root / SPACE.folder / "namespace.json"}


@pytest.mark.slow
def test_a_writer_killed_20_times_leaves_only_whole_records(tmp_path: Path) -> None:
    hold_the_promise(tmp_path, 20)
