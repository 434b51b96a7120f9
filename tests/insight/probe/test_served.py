"""Against `headstart serve` itself, with a tiny model: a verdict is about the cache in front of it.

One sample has no interval: the counters alone decide, and no machine is too busy for them.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from headstart.cli import app
from headstart.insight.bench.launch import serving

SHORT = ("--prefix", "250", "-n", "1")
Found = tuple[int, dict[str, Any]]


def probes(serve: Sequence[str], runs: Mapping[str, Sequence[str]]) -> dict[str, Found]:
    """Status and report of each run, one after the other against one server."""

    def probe(url: str, flags: Sequence[str]) -> Found:
        done: Result = CliRunner().invoke(app, ["probe", url, *flags, "--format", "json"])
        return done.exit_code, json.loads(done.stdout)

    async def run() -> dict[str, Found]:
        async with serving(serve) as server:
            return {
                name: await asyncio.to_thread(probe, server.url, flags)
                for name, flags in runs.items()
            }

    return asyncio.run(run())


@pytest.fixture(scope="module")
def clock_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("prompt") / "system.txt"
    file.write_text("Today is {clock}.\n" + "Answer briefly, politely and in English. " * 25)
    return file


@pytest.fixture(scope="module")
def checkpoint(tiny_checkpoint: Callable[..., Path]) -> Path:
    return tiny_checkpoint("llama", max_position_embeddings=4096)


@pytest.fixture(scope="module")
def tiny(checkpoint: Path, clock_file: Path) -> dict[str, Found]:
    # 2 layers x 2 KV heads x 16 x K and V x 4 bytes: 512 bytes a token, 8,192 tokens in 4 MiB.
    serve = ("--model", str(checkpoint), "--dtype", "float32", "--kv-memory", "4MiB")
    runs = {
        # First, while nothing else lies there.
        "capacity": ("--retention", "--max-wait", "0", "--prefix", "400", "--seed", "7"),
        "on": SHORT,
        "clock": ("--prefix-file", str(clock_file), "-n", "1"),
        "openai-responses": ("--dialect", "openai-responses", *SHORT),
        # Above the minimum of Anthropic's contract.
        "anthropic": ("--dialect", "anthropic", "--prefix", "1100", "-n", "1"),
        "deepseek": ("--dialect", "deepseek", *SHORT),
    }
    return probes(serve, runs)


@pytest.mark.slow
def test_with_the_cache_on_reuse_is_proved_and_a_clock_in_front_breaks_it(
    tiny: dict[str, Found],
) -> None:
    status, told = tiny["on"]
    assert (status, told["verdict"]["name"]) == (0, "counted")
    assert list(told["remarks"]) == ["clock_breaks"]
    assert told["figures"]["hit_rate"]["value"] > 0.99


@pytest.mark.slow
def test_with_a_clock_in_the_first_line_the_prompt_is_blamed_and_not_the_cache(
    tiny: dict[str, Found],
) -> None:
    status, told = tiny["clock"]
    assert (status, told["verdict"]["name"]) == (1, "broken_by_clock")
    assert told["figures"]["clock_last_hit_rate"]["value"] > 0.9


@pytest.mark.slow
def test_with_the_cache_off_nothing_is_reused(checkpoint: Path) -> None:
    serve = ("--model", str(checkpoint), "--dtype", "float32", "--no-prefix-cache")
    ((status, told),) = probes(serve, {"off": SHORT}).values()
    assert (status, told["verdict"]["name"]) == (1, "no_reuse")
    assert list(told["remarks"]) == ["no_reuse_with_clock"]
    assert told["figures"]["cached_tokens"]["value"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["openai-responses", "anthropic", "deepseek"])
def test_the_verdict_is_the_same_in_every_dialect(tiny: dict[str, Found], dialect: str) -> None:
    status, told = tiny[dialect]
    assert (status, told["verdict"]["name"]) == (0, "counted")
    assert told["figures"]["hit_rate"]["value"] > 0.7


@pytest.mark.slow
def test_a_capacity_set_on_the_server_is_found_to_a_tenth(tiny: dict[str, Found]) -> None:
    status, told = tiny["capacity"]
    assert (status, told["verdict"]["name"]) == (0, "capacity_found")
    assert told["figures"]["capacity"]["value"] == pytest.approx(8192, rel=0.1)
