import random
from collections import OrderedDict
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.cache import POLICIES
from headstart.insight.replay.optimum import Optimum
from headstart.insight.replay.replay import replay
from headstart.insight.replay.request import Request

Path = tuple[int, ...]

paths = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5).map(tuple), max_size=25)


def stream(of: list[Path], *, block_tokens: int = 4, part: int = 0) -> list[Request]:
    """Requests along paths of a trie, a second apart; ids name whole prefixes."""
    ids = {prefix: number for number, prefix in enumerate(sorted(_prefixes(of)), 1)}
    return [
        Request(
            float(at),
            None,
            None,
            None,
            [ids[path[: depth + 1]] for depth in range(len(path))],
            len(path) * block_tokens - part,
            0,
            block_tokens,
        )
        for at, path in enumerate(of)
    ]


def _prefixes(of: list[Path]) -> set[Path]:
    return {path[: depth + 1] for path in of for depth in range(len(path))}


def naive_lru_hits(requests: list[Request], capacity: int) -> int:
    """Tail-first LRU by block: what a path used last is touched from its end to its begin."""
    kept: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for request in requests:
        leading = 0
        for block in request.blocks:
            if block not in kept:
                break
            leading += 1
        hits += request.prefix_tokens(leading)
        for block in reversed(request.blocks):
            kept.pop(block, None)
            kept[block] = None
        while len(kept) > capacity:
            kept.popitem(last=False)
    return hits


@given(paths, st.integers(0, 12), st.integers(0, 3), st.sampled_from(["radix", "hash"]))
def test_lru_reuses_what_a_naive_tail_first_lru_does(
    of: list[Path], capacity: int, part: int, index: str
) -> None:
    requests = stream(of, part=part)
    outcome = replay(requests, policy="lru", capacity=capacity, index=index)
    assert outcome.hit_tokens == naive_lru_hits(requests, capacity)
    assert outcome.prompt_tokens == sum(request.prompt_tokens for request in requests)


@pytest.mark.parametrize("policy", sorted(POLICIES))
@given(of=paths)
def test_with_room_for_everything_every_policy_reaches_the_ceiling(
    policy: str, of: list[Path]
) -> None:
    requests = stream(of)
    optimum = Optimum(requests)
    outcome = replay(requests, policy=policy, capacity=max(1, optimum.unique_blocks))
    assert outcome.hit_rate == pytest.approx(optimum.ceiling())


@pytest.mark.parametrize("policy", sorted(POLICIES))
@given(of=paths, capacity=st.integers(0, 12))
def test_no_policy_beats_the_optimum(policy: str, of: list[Path], capacity: int) -> None:
    requests = stream(of)
    outcome = replay(requests, policy=policy, capacity=capacity)
    assert outcome.hit_rate <= Optimum(requests).hit_rate(capacity) + 1e-9


def agents_among_passers_by(sessions: int, seed: int) -> list[Request]:
    """Sessions that come back every few seconds for 20 turns, and four one-shots beside each."""
    draw, fresh = random.Random(seed), count(1)
    events: list[tuple[float, str, int]] = []
    for number in range(sessions):
        at = draw.uniform(0, 400)
        for turn in range(20):
            events.append((at, f"agent {number}", turn))
            at += draw.uniform(8, 12)
        events += [(draw.uniform(0, 600), f"once {number}.{i}", 0) for i in range(16)]
    blocks: dict[str, list[int]] = {}
    requests = []
    for at, session, turn in sorted(events):
        path = blocks.setdefault(session, [])
        path += [next(fresh) for _ in range(20 if turn == 0 else 2)]
        requests.append(Request(at, session, turn, "tool_use", path[:], 16 * len(path), 40, 16))
    return requests


@pytest.mark.parametrize("named", [True, False])
def test_the_default_keeps_sessions_that_come_back_where_lru_loses_them(named: bool) -> None:
    requests = agents_among_passers_by(40, seed=3)
    if not named:
        requests = [
            Request(r.time_s, None, None, None, r.blocks, r.prompt_tokens, r.output_tokens, 16)
            for r in requests
        ]
    optimum = Optimum(requests)
    capacity = optimum.unique_blocks // 20
    lru = replay(requests, policy="lru", capacity=capacity).hit_rate
    ours = replay(requests, policy="worth", capacity=capacity).hit_rate
    best = optimum.hit_rate(capacity)
    assert best - lru > 0.1, "the scene is too easy to tell anything"
    assert ours - lru > 0.3 * (best - lru)
