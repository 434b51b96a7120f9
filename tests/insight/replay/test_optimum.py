from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.insight.replay.optimum import Optimum
from headstart.insight.replay.request import Request

Path = tuple[int, ...]


def request(path: Path, *, part: int = 0, block_tokens: int = 4) -> Request:
    """A prompt along `path` of a trie; `part` tokens are missing from its last block."""
    names = [hash(path[: depth + 1]) for depth in range(len(path))]
    tokens = len(path) * block_tokens - part
    return Request(0.0, None, None, None, names, tokens, 0, block_tokens)


def best_hits(paths: list[Path], capacity: int) -> int:
    """Most hit blocks over every choice of what to keep after each request (whole prefixes)."""
    states: dict[frozenset[Path], int] = {frozenset(): 0}
    for path in paths:
        prefixes = [path[: depth + 1] for depth in range(len(path))]
        after: dict[frozenset[Path], int] = {}
        for kept, hits in states.items():
            gained = hits + sum(prefix in kept for prefix in prefixes)
            held = sorted(kept | set(prefixes))
            for size in range(min(capacity, len(held)) + 1):
                for choice in map(frozenset, combinations(held, size)):
                    if all(node[:-1] in choice for node in choice if len(node) > 1):
                        after[choice] = max(after.get(choice, 0), gained)
        states = after
    return max(states.values())


tries = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=3).map(tuple), max_size=6)


@given(tries, st.integers(0, 5))
def test_it_equals_brute_force_on_small_tries(paths: list[Path], capacity: int) -> None:
    optimum = Optimum(map(request, paths))
    hits = best_hits(paths, capacity) * 4
    assert optimum.hit_rate(capacity) * optimum.prompt_tokens == pytest.approx(hits)


@given(tries)
def test_room_for_everything_reaches_the_ceiling(paths: list[Path]) -> None:
    optimum = Optimum(map(request, paths))
    assert optimum.hit_rate(optimum.unique_blocks) == pytest.approx(optimum.ceiling())
    assert optimum.unique_blocks == len({p[: d + 1] for p in paths for d in range(len(p))})


def test_a_part_full_last_block_counts_by_its_tokens() -> None:
    twice = [request((1, 2), part=3), request((1, 2), part=3)]
    assert Optimum(twice).hit_rate(2) == pytest.approx(5 / 10)
    assert Optimum(twice).hit_rate(1) == pytest.approx(4 / 10)


def test_a_request_that_returns_later_gives_way_in_part() -> None:
    paths = [(1, 2, 3), (4, 5), (4, 5), (1, 2, 3)]
    assert Optimum(map(request, paths)).hit_rate(3) == pytest.approx((2 + 1) / 10)


def test_an_empty_stream_hits_nothing() -> None:
    assert Optimum([]).hit_rate(10) == Optimum([]).ceiling() == 0.0
