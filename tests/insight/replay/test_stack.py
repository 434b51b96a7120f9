from hypothesis import given, settings
from hypothesis import strategies as st
from tests.insight.replay.test_replay import Path, paths, stream
from tests.search import examples

from headstart.insight.replay.optimum import Optimum
from headstart.insight.replay.replay import replay
from headstart.insight.replay.stack import lru_hit_rates


@settings(max_examples=examples(50))  # A run for each capacity.
@given(paths, st.integers(0, 3))
def test_one_pass_equals_a_run_of_the_cache_at_every_capacity(of: list[Path], part: int) -> None:
    requests = stream(of, part=part)
    reuse = Optimum(requests)
    capacities = range(reuse.unique_blocks + 2)
    runs = [replay(requests, policy="lru", capacity=capacity).hit_rate for capacity in capacities]
    assert lru_hit_rates(reuse, capacities) == runs


def test_an_empty_stream_hits_nothing() -> None:
    assert lru_hit_rates(Optimum([]), [0, 5]) == [0.0, 0.0]
