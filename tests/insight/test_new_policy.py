"""A policy that someone writes is one file: no list, no table and no test names it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import headstart

FILE = '''
from typing import ClassVar

from headstart.cache.node import Node
from headstart.cache.policies.base import Ranking


class Newest(Ranking):
    """What was let go last goes first."""

    name: ClassVar[str] = "newest"

    def rank(self, leaf: Node) -> int:
        return -leaf.stamp
'''
SERVE = """
import headstart.server.run
headstart.server.run.run = lambda settings: print("serves with", settings.eviction_policy)
from headstart.cli import main
main()
"""
COMMAND = "from headstart.cli import main; main()"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as it is, and one file more in it."""
    root, package = tmp_path_factory.mktemp("src"), Path(headstart.__file__).parent
    policies = root / "headstart" / "cache" / "policies"
    policies.mkdir(parents=True)
    for folder, but in ((".", "cache"), ("cache", "policies"), ("cache/policies", "")):
        for each in (package / folder).iterdir():
            if each.name not in (but, "__pycache__"):
                (root / "headstart" / folder / each.name).symlink_to(each)
    (policies / "newest.py").write_text(FILE)
    return root


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Three conversations in turn, each growing by a block."""
    path = tmp_path / "trace.jsonl"
    rows = [
        {"timestamp": at, "input_length": 512 * (at // 3 + 1), "output_length": 1,
         "hash_ids": [100 * (at % 3) + depth for depth in range(at // 3 + 1)]}
        for at in range(30)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def headstart_with(source: Path, *arguments: str, code: str = COMMAND) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(source), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.slow
def test_replay_runs_and_draws_it(source: Path, trace: Path, tmp_path: Path) -> None:
    plot = tmp_path / "replay.svg"
    told = headstart_with(
        source, "replay", str(trace), "--policy", "lru,newest", "--capacity", "5k",
        "--format", "json", "--plot", str(plot),
    )  # fmt: skip
    rates = {point["policy"]: point["hit_rate"] for point in json.loads(told)["points"]}
    assert rates.keys() == {"lru", "newest"}
    assert rates["newest"] > rates["lru"]  # Of what comes in turn, the latest is needed last.
    assert ">newest<" in plot.read_text()


@pytest.mark.slow
def test_plan_runs_and_draws_it(source: Path, trace: Path, tmp_path: Path) -> None:
    plot = tmp_path / "plan.svg"
    told = headstart_with(
        source, "plan", "--model", "llama-3-8b", "--trace", str(trace), "--policy", "newest",
        "--plot", str(plot),
    )  # fmt: skip
    assert "hit rate in this pool, newest" in told
    assert ">newest<" in plot.read_text()


def test_the_server_takes_it_and_its_help_names_it(source: Path) -> None:
    assert "|newest|" in headstart_with(source, "serve", "--help")
    told = headstart_with(source, "serve", "--eviction-policy", "newest", code=SERVE)
    assert told == "serves with newest\n"
