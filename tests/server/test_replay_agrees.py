"""`headstart replay` and the running server, asked the same things: equal to the token."""

import json
import random
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import msgspec
import pytest
from tests.server.conftest import MODEL, Live, StartServer

from headstart.insight.replay.bodies import read_bodies
from headstart.insight.replay.fleet import Fleet
from headstart.insight.replay.main import FINE, Given, main
from headstart.insight.replay.pool import Setup
from headstart.insight.replay.replay import run
from headstart.insight.replay.source import Reading

BLOCK = 8
REQUESTS = 40
KV_MEMORY = 64 * 1024
ANSWER = [7] * 5


def prompts(seed: int) -> list[list[int]]:
    """Conversations behind one of two system prompts: they go on, branch off, and repeat."""
    draw = random.Random(seed)
    systems = [[draw.randrange(10, 250) for _ in range(length)] for length in (21, 40)]
    talks: list[list[int]] = []
    asked = []
    for _ in range(REQUESTS):
        if not talks or draw.random() < 0.3:
            talks.append(list(draw.choice(systems)))
        talk = draw.choice(talks[-6:])
        if draw.random() < 0.15:
            del talk[draw.randrange(1, len(talk)) :]
        elif draw.random() < 0.5 and len(talk) > 45:
            talk += ANSWER
        talk += [draw.randrange(10, 250) for _ in range(draw.randrange(1, 20))]
        asked.append(talk[:90])
    return asked


def ask(live: Live, tokens: list[int], key: str = "anything") -> int:
    """Cached tokens; the answer is ANSWER, whatever the model thinks of it."""
    answer = live.post(
        "/v1/completions",
        key,
        model=MODEL,
        prompt=tokens,
        max_tokens=len(ANSWER),
        temperature=0,
        ignore_eos=True,
        logit_bias={str(ANSWER[0]): 100},
    )
    assert answer.status_code == 200, answer.text
    usage = answer.json()["usage"]
    assert usage["completion_tokens"] == len(ANSWER)
    cached: int = usage["prompt_tokens_details"]["cached_tokens"]
    return cached


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "index"),
    [("worth", "radix"), ("worth", "hash"), ("lru", "radix"), ("s3fifo", "hash")],
)
def test_each_request_reuses_in_the_replay_what_it_did_on_the_server(
    start_real: StartServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    policy: str,
    index: str,
) -> None:
    live = start_real(
        kv_memory_bytes=KV_MEMORY, block_size=BLOCK, eviction_policy=policy, prefix_index=index
    )
    clock = count(1.0, 7.3)  # The policy `worth` goes by time: both must tell the same.
    now = next(clock)
    monkeypatch.setattr(live.engine, "_clock", lambda: now)
    blocks = live.engine.stats().cache.capacity_tokens // BLOCK
    log = tmp_path / "log.jsonl"
    cached = []
    with log.open("w") as file:
        for tokens in prompts(seed=5):
            now = next(clock)
            cached.append(ask(live, tokens))
            row = {"time": now, "tokens": tokens, "output": ANSWER, "stop": "length"}
            file.write(json.dumps(row) + "\n")
    hits: list[int] = []
    setup = Setup(policy, blocks, index=index, block_size=BLOCK)
    run(read_bodies(log), [Fleet([setup])], lambda _, __, tokens: hits.append(tokens))
    assert hits == cached
    assert live.engine.stats().cache.evicted_blocks > blocks, "the pool was never full"
    assert sum(token % BLOCK > 0 for token in cached) > 3, "no hit ended inside a block"


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["worth", "lru"])
def test_the_servers_own_log_replays_to_the_tokens_that_it_told(
    start_real: StartServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    policy: str,
) -> None:
    """Two tenants ask the same things over a socket, in a pool that is full."""
    (tmp_path / "keys").write_text("ka alice\nkb bob\n")
    log = tmp_path / "requests.jsonl"
    clock = count(1.0, 7.3)
    now = next(clock)
    live = start_real(
        kv_memory_bytes=KV_MEMORY,
        block_size=BLOCK,
        eviction_policy=policy,
        api_keys_file=str(tmp_path / "keys"),
        request_log=str(log),
        now=lambda: now,
    )
    monkeypatch.setattr(live.engine, "_clock", lambda: now)
    told = 0
    for number, tokens in enumerate(prompts(seed=6)[:20]):
        for key in ("ka", "kb") if number % 3 else ("kb",):
            now = next(clock)
            told += ask(live, tokens, key)
    now = next(clock)
    warmed = live.post("/cache/warm", "ka", tokens=prompts(seed=6)[3] + [9] * 9).json()
    told += warmed["prompts"][0]["cached_tokens"]
    capacity = live.engine.stats().cache.capacity_tokens
    lines = _whole(log, 20 + 13 + 1)
    assert sum(line["cached"] for line in lines) == told
    assert live.engine.stats().cache.evicted_blocks > 0, "the pool was never full"

    given = Given(
        traces=[log],
        policies=[policy],
        capacities=[str(capacity)],
        now=datetime(2026, 11, 30, tzinfo=UTC),
        reuse="token",
        reading=Reading(block_size=BLOCK),
    )
    assert main(given, form="json", plot=None) == FINE
    report = json.loads(capsys.readouterr().out)
    assert report["trace"]["requests"] == len(lines)
    assert report["points"][0]["hit_tokens"] == told
    assert report["points"][0]["hit_rate"] < report["ceiling"]


def _whole(log: Path, count: int) -> list[dict[str, Any]]:
    """The log's lines, once there are so many."""
    end = monotonic() + 10
    while log.read_bytes().count(b"\n") < count:
        assert monotonic() < end, log.read_text()
        sleep(0.05)
    return [msgspec.json.decode(line) for line in log.read_bytes().splitlines()]
