"""Random work on the cache, held step by step to a naive model of it (see oracle.py, twin.py)."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule
from tests.cache.twin import Sequence, Twin

from headstart.cache import INDEXES

spaces = st.sampled_from(["acme", "globex"])
some_tokens = st.lists(st.integers(0, 1), max_size=14)
counts = st.integers(0, 14)


class CacheMachine(RuleBasedStateMachine):
    """Two letters of alphabet and tiny pools: prompts collide, branch and evict all the time."""

    sequences = Bundle("sequences")

    @initialize(
        blocks=st.integers(1, 12) | st.integers(13, 40),
        size=st.integers(1, 5),
        index=st.sampled_from(sorted(INDEXES)),
        factor=st.sampled_from([0, 0, 0, 0, 1, 2, 3]),
        enabled=st.sampled_from([True] * 9 + [False]),
        lazy=st.booleans(),
    )
    def begin(self, blocks: int, size: int, **options: Any) -> None:
        self.twin = Twin(blocks, size, **options)

    @rule(target=sequences, space=spaces, tokens=some_tokens, spare=st.sampled_from([0, 0, 1, 8]))
    def arrives(self, space: str, tokens: list[int], spare: int) -> Sequence:
        sequence = self.twin.start(space, tokens)
        self.twin.acquire(sequence, spare=spare)
        return sequence

    @rule(target=sequences, of=sequences, space=spaces, keep=counts, tail=some_tokens)
    def branches(self, of: Sequence, space: str, keep: int, tail: list[int]) -> Sequence:
        sequence = self.twin.start(space, [*of.tokens[:keep], *tail])
        self.twin.acquire(sequence)
        return sequence

    @rule(target=sequences, of=sequences, turn=some_tokens)
    def goes_on(self, of: Sequence, turn: list[int]) -> Sequence:
        sequence = self.twin.start(of.space, [*of.tokens, *turn])
        self.twin.acquire(sequence, room=len(turn))
        return sequence

    @rule(sequence=sequences, limit=st.none() | counts)
    def is_admitted(self, sequence: Sequence, limit: int | None) -> None:
        if sequence.holding is None:
            self.twin.acquire(sequence, limit=limit)

    @rule(sequence=sequences, count=counts)
    def is_computed(self, sequence: Sequence, count: int) -> None:
        if sequence.holding is not None:
            self.twin.compute(sequence, count)

    @rule(sequence=sequences, less=st.integers(0, 5), tail=st.booleans())
    def is_published(self, sequence: Sequence, less: int, tail: bool) -> None:
        if sequence.holding is not None:
            self.twin.publish(sequence, max(0, sequence.computed - less), tail=tail)

    @rule(sequence=sequences)
    def runs_to_its_end(self, sequence: Sequence) -> None:
        if sequence.holding is not None:
            self.twin.compute(sequence, len(sequence.tokens))
            self.twin.publish(sequence, sequence.computed)
            self.twin.release(sequence)

    @rule(sequence=sequences, tokens=some_tokens)
    def generates(self, sequence: Sequence, tokens: list[int]) -> None:
        if sequence.holding is not None:
            self.twin.append(sequence, tokens)

    @rule(sequence=sequences, times=st.integers(1, 2))
    def is_let_go(self, sequence: Sequence, times: int) -> None:
        if sequence.holding is not None:
            self.twin.release(sequence, times)

    @rule(sequence=sequences)
    def is_looked_up(self, sequence: Sequence) -> None:
        self.twin.look(sequence)

    @rule()
    def is_reset(self) -> None:
        self.twin.reset()

    @invariant()
    def both_agree(self) -> None:
        self.twin.check()


TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = settings(
    max_examples=80, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)


def random_work(rng: random.Random, operations: int, *, every: int = 1, **pool: Any) -> Twin:
    """Like the machine, but long: requests come, run, and go, over a pool that is always full.

    The books are audited after each operation, and compared after each `every`-th.
    """
    twin = Twin(**pool)
    for number in range(1, operations + 1):
        twin.sequences[:-20] = [s for s in twin.sequences[:-20] if s.holding is not None]
        one_operation(rng, twin)
        if number % every:
            twin.cache.audit()
        else:
            twin.check()
    return twin


def one_operation(rng: random.Random, twin: Twin) -> None:
    """Whatever a request may do next, or a new one."""
    live = [sequence for sequence in twin.sequences if sequence.holding is not None]
    dice = rng.random()
    if dice < 0.01:
        twin.reset()
    elif dice < 0.35 or not live:
        earlier = rng.choice(twin.sequences).tokens if twin.sequences else []
        keep = rng.randint(0, len(earlier)) if rng.random() < 0.7 else 0
        tail = [rng.randint(0, 2) for _ in range(rng.randint(0, 3 * twin.oracle.size))]
        sequence = twin.start(rng.choice(["acme", "globex"]), [*earlier[:keep], *tail][:60])
        twin.acquire(sequence, room=rng.randint(0, 4), spare=rng.choice([0, 0, 1, 6]))
    elif dice < 0.40:
        waiting = [sequence for sequence in twin.sequences if sequence.holding is None]
        if waiting:
            twin.acquire(rng.choice(waiting))
    elif dice < 0.58:
        twin.compute(rng.choice(live), rng.randint(1, 4 * twin.oracle.size))
    elif dice < 0.73:
        sequence = rng.choice(live)
        computed = rng.randint(sequence.computed // 2, sequence.computed)
        twin.publish(sequence, computed, tail=rng.random() < 0.7)
    elif dice < 0.81:
        twin.append(rng.choice(live), [rng.randint(0, 2) for _ in range(rng.randint(1, 6))])
    elif dice < 0.84:
        twin.look(rng.choice(twin.sequences))
    else:
        sequence = rng.choice(live)
        if rng.random() < 0.6:
            twin.compute(sequence, len(sequence.tokens))
            twin.publish(sequence, sequence.computed)
        twin.release(sequence, rng.randint(1, 2))


POOLS = [(1, 1, 0), (3, 2, 1), (7, 4, 0), (12, 1, 1), (30, 3, 2), (30, 3, 0), (6, 16, 0)]
"""Blocks, tokens in each, and blocks in a unit of reuse (0: every token)."""


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("index", sorted(INDEXES))
@pytest.mark.parametrize(("blocks", "size", "factor"), POOLS)
def test_random_work_agrees_with_the_oracle(
    blocks: int, size: int, factor: int, index: str, lazy: bool
) -> None:
    rng = random.Random(blocks * 100 + size)
    random_work(rng, 300, blocks=blocks, size=size, factor=factor, index=index, lazy=lazy)


def test_a_disabled_cache_agrees_with_an_oracle_that_keeps_nothing() -> None:
    twin = random_work(random.Random(9), 300, blocks=10, size=2, enabled=False)
    assert (twin.cache.cached, twin.cache.evicted) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("index", sorted(INDEXES))
def test_thousands_of_operations_agree_with_the_oracle_and_leave_nothing_behind(
    index: str,
) -> None:
    twin = random_work(random.Random(42), 2_000, blocks=16, size=3, index=index)
    assert twin.cache.evicted > 250, "the pool was never under pressure"
    for sequence in twin.sequences:
        if sequence.holding is not None:
            twin.release(sequence)
    twin.reset()
    twin.check()
    assert (twin.cache.available, twin.cache.cached) == (16, 0)


@pytest.mark.slow
@pytest.mark.parametrize("index", sorted(INDEXES))
def test_a_hundred_thousand_operations_leave_the_books_right_after_each(index: str) -> None:
    """Compared with the oracle, which is slow, after every fiftieth."""
    rng, left = random.Random(7), 100_000
    for lazy in (False, True):
        for blocks, size, factor in [*POOLS[1:], (16, 3, 0), (8, 2, 0), (5, 4, 0), (20, 2, 0)]:
            pool = {"blocks": blocks, "size": size, "factor": factor, "lazy": lazy}
            twin = random_work(rng, 5_000, every=50, index=index, **pool)
            assert twin.cache.evicted > 250, "the pool was never under pressure"
            left -= 5_000
    assert left == 0
