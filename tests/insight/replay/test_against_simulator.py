"""LRU and the optimum beside KVCache.AI's simulator (Apache-2.0), which shares no line with us."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from headstart.insight.replay.fleet import Fleet
from headstart.insight.replay.optimum import Optimum
from headstart.insight.replay.pool import Setup
from headstart.insight.replay.replay import run
from headstart.insight.replay.request import Request
from headstart.insight.replay.source import Reading, Trace
from headstart.insight.replay.stack import lru_hit_rates

pytest.importorskip("kvcache_sim", reason="pip install kvcache-simulator==0.1.3")

LONGEST = 40
"""Blocks: what a cache has to have room for, for both mean the same by it."""


@pytest.fixture(params=range(4))
def recording(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Conversations that go on, branch off and begin anew, with part-full last blocks."""
    draw, fresh, talks = random.Random(request.param), iter(range(1, 100_000)), [[0]]
    path = tmp_path / "trace.jsonl"
    with path.open("w") as file:
        for at in range(400):
            talk = list(draw.choice(talks))
            if draw.random() < 0.3:
                talk = talk[: draw.randrange(1, len(talk) + 1)]
            talk += [next(fresh) for _ in range(draw.randint(1, 5))]
            if len(talk) > LONGEST:
                talk = talk[:1]
            talks = [*talks[-30:], talk]
            row = {"timestamp": at, "input_length": 512 * len(talk) - draw.randrange(512),
                   "output_length": 1, "hash_ids": talk}  # fmt: skip
            file.write(json.dumps(row) + "\n")
    return path


def test_both_count_the_same_tokens_at_every_capacity(recording: Path) -> None:
    """Of the second half, as theirs wants a cache that is full when it begins to count."""
    from kvcache_sim.plan import build_execution_plan
    from kvcache_sim.policies import simulate_ceiling, simulate_policy
    from kvcache_sim.trace import parse_trace_file

    requests = list(Trace([recording], Reading()).requests())
    half = len(requests) // 2
    ours = Optimum(requests)
    for at, groups in enumerate(ours.ending[:half]):
        ours.ending[at] = [replace(group, tokens=0) for group in groups]
    theirs = build_execution_plan(parse_trace_file(recording, block_size=512))
    assert round(ours.ceiling() * ours.prompt_tokens) == simulate_ceiling(theirs).hitTokens
    for capacity in (LONGEST, 60, 100, 200, 400):
        best, lru = (simulate_policy(theirs, policy, capacity) for policy in ("optimal", "lru"))
        assert lru.measurementMode == best.measurementMode == "fixed_window"
        assert round(ours.hit_rate(capacity) * ours.prompt_tokens) == best.hitTokens
        assert round(lru_hit_rates(ours, [capacity])[0] * ours.prompt_tokens) == lru.hitTokens
        assert hits(requests, capacity, half) == lru.hitTokens


def hits(requests: list[Request], capacity: int, begin: int) -> int:
    """Prompt tokens that the cache itself reuses from request `begin` on, under `lru`."""
    heard: list[int] = []
    fleet = Fleet([Setup("lru", capacity, longest=LONGEST)])
    run(requests, [fleet], lambda _, __, hit: heard.append(hit))
    return sum(heard[begin:])
