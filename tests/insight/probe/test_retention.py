"""How much and how long: against an endpoint that keeps what its rules say."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.insight.probe.oracle import Oracle, run
from tests.search import examples

from headstart.insight.probe.capacity import Capacity, capacity
from headstart.insight.probe.cost import Budget, Purse
from headstart.insight.probe.lifetime import Lifetime, lifetime, schedule
from headstart.insight.probe.prompts import Unseen
from headstart.insight.probe.retention import Retention, retention, retention_report
from headstart.insight.probe.script import Call, Usage

WORDS = 100
few = settings(max_examples=examples(25))
PROMPT = WORDS + 2 + 10
"""The frame and the question are tokens too."""


def measure(oracle: Oracle, tokens: int | None = None) -> Capacity:
    unseen = Unseen(1, WORDS)
    script = capacity(unseen, oracle.wall, [unseen.layout().fill(oracle.wall)], 1)
    return run(script, oracle, tokens)


def live(oracle: Oracle, most: float) -> Lifetime:
    return run(lifetime(Unseen(1, WORDS), oracle.wall, most, 1), oracle)


def retain(oracle: Oracle, most_wait: float = 60.0, tokens: int | None = None) -> Retention:
    return run(retention(Unseen(1, WORDS), oracle.wall, most_wait), oracle, tokens)


@few
@given(
    size=st.integers(PROMPT * 10, PROMPT * 60),
    policy=st.sampled_from(["lru", "mru", "fifo", "lfu", "random"]),
)
def test_whatever_the_policy_the_capacity_is_found_to_a_tenth(size: int, policy: str) -> None:
    found = measure(Oracle(capacity=size, policy=policy))
    assert found.high is not None
    # Prompts are kept whole there, so the last one's rest may be left empty.
    assert found.low <= size < found.high
    assert found.estimate == pytest.approx(size, rel=0.1)


@few
@given(size=st.integers(PROMPT * 10, PROMPT * 60))
def test_what_lies_around_from_before_is_pushed_out_first_by_lru(size: int) -> None:
    oracle = Oracle(capacity=size)
    first = measure(oracle)
    unseen = Unseen(2, WORDS)
    again = run(capacity(unseen, oracle.wall, [unseen.layout().fill(oracle.wall)], 1), oracle)
    assert (again.low, again.high) == (first.low, first.high)


@few
@given(size=st.integers(PROMPT * 20, PROMPT * 60), unlucky=st.integers(1, 2))
def test_one_that_is_gone_before_what_lies_around_is_no_end_of_the_room(
    size: int, unlucky: int
) -> None:
    """A third of the room is others', and once or twice one of ours goes before that."""
    oracle = Oracle(capacity=size, unlucky=unlucky)
    others = Unseen(2, WORDS)
    for _ in range(size // PROMPT // 3):
        oracle.ask(Call(others.layout().fill(oracle.wall), ""))
    found = measure(oracle)
    assert found.high is not None
    assert found.low <= size < found.high
    assert found.estimate == pytest.approx(size, rel=0.1)


@few
@given(
    size=st.integers(PROMPT * 20, PROMPT * 60),
    policy=st.sampled_from(["lru", "mru", "fifo", "lfu"]),
)
def test_what_the_probe_has_sent_before_counts_whichever_goes_first(size: int, policy: str) -> None:
    """A quarter of the room is the trial's. Under MRU it never goes, whatever is read back."""
    oracle = Oracle(capacity=size, policy=policy)
    trial = Unseen(2, size // 4).layout().fill(oracle.wall)
    oracle.ask(Call(trial, ""))
    found = run(retention(Unseen(1, WORDS), oracle.wall, 0, [trial]), oracle).capacity
    assert found is not None
    assert found.high is not None
    assert found.low <= size < found.high
    assert found.estimate == pytest.approx(size, rel=0.1)


def test_what_is_too_short_to_be_kept_does_not_count() -> None:
    oracle = Oracle(capacity=4000)
    alone = retain(oracle, 0).capacity
    too_short = Unseen(2, 0).layout().fill(oracle.wall)
    script = retention(Unseen(1, WORDS), oracle.wall, 0, [too_short])
    assert run(script, Oracle(capacity=4000, least=20)).capacity == alone


def test_without_a_loss_within_the_budget_there_is_only_a_lower_end() -> None:
    found = measure(Oracle(), tokens=PROMPT * 200)
    assert found.high is None
    assert found.estimate is None
    # With a seventh more each time, some 200 requests leave about this many prefixes behind.
    assert 10 * PROMPT < found.low < 40 * PROMPT


@few
@given(ttl=st.floats(6, 500), sliding=st.booleans())
def test_the_lifetime_lies_between_what_was_survived_and_what_was_not(
    ttl: float, sliding: bool
) -> None:
    found = live(Oracle(ttl=ttl, sliding=sliding), most=2000)
    assert found.high is not None
    assert found.low < ttl <= found.high
    # Within a fifth, and the second that it takes to write a round's prefixes.
    assert found.high <= found.low * 1.2 + 3
    assert found.sliding is sliding


@few
@given(ttl=st.floats(1, 100), most=st.floats(1, 300))
def test_it_never_waits_longer_than_it_may(ttl: float, most: float) -> None:
    oracle = Oracle(ttl=ttl)
    live(oracle, most)
    assert oracle.now <= most + 10


def test_what_outlives_the_longest_wait_has_no_upper_end() -> None:
    found = live(Oracle(), most=300)
    assert found.low >= 300
    assert (found.high, found.sliding) == (None, None)


def test_gaps_double_up_to_the_longest_wait() -> None:
    assert schedule(60) == [5, 10, 20, 40, 60]
    assert schedule(3) == [3]


def test_all_gaps_of_a_round_run_at_the_same_time() -> None:
    oracle = Oracle()
    live(oracle, most=300)
    assert oracle.now < 320


@pytest.mark.parametrize(
    ("oracle", "name", "remark"),
    [
        (Oracle(capacity=4000, ttl=30), "capacity_found", ["sliding"]),
        (Oracle(capacity=4000, ttl=30, sliding=False), "capacity_found", ["fixed"]),
        (Oracle(capacity=4000), "capacity_found", ["no_end_of_life"]),
        (Oracle(caches=False), "no_reuse", []),
        (Oracle(counts=False), "uncounted", []),
    ],
)
def test_each_behaviour_gets_its_verdict(oracle: Oracle, name: str, remark: list[str]) -> None:
    purse = Purse(Budget(None, None), None, Usage())
    found = retention_report(retain(oracle, 200), {}, purse)
    assert found.verdict.name == name
    assert [each.name for each in found.remarks] == remark


def test_with_a_budget_that_ends_first_it_keeps_at_least_so_much() -> None:
    oracle = Oracle()
    purse = Purse(Budget(None, None), None, Usage())
    found = retention_report(retain(oracle, 0, tokens=PROMPT * 100), {}, purse)
    assert found.verdict.name == "at_least"
    assert found.verdict.status == 0


def test_zero_seconds_of_waiting_leave_the_lifetime_out() -> None:
    oracle = Oracle(capacity=4000)
    assert retain(oracle, 0).lifetime is None
    assert oracle.now < 300
