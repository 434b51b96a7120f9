"""Pins, their running out, and expiry, held step by step to the naive model of them."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from tests.cache.test_against_oracle import CacheMachine, counts, one_operation, some_tokens, spaces
from tests.cache.twin import Sequence, Twin

from headstart.cache import INDEXES

seconds = st.integers(1, 8)


class KeepingMachine(CacheMachine):
    """The machine, in which time passes and prefixes are kept."""

    @initialize(
        blocks=st.integers(1, 12) | st.integers(13, 30),
        size=st.integers(1, 5),
        index=st.sampled_from(sorted(INDEXES)),
        factor=st.sampled_from([0, 0, 0, 0, 1, 2]),
        lazy=st.booleans(),
        ttl=st.none() | seconds,
    )
    def begin(self, blocks: int, size: int, **options: Any) -> None:
        self.twin = Twin(blocks, size, **options)

    @rule(of=CacheMachine.sequences, keep=counts, ttl=seconds, priority=st.integers(0, 2))
    def is_kept(self, of: Sequence, keep: int, ttl: int, priority: int) -> None:
        self.twin.pin(of.space, of.tokens[:keep], ttl=ttl, priority=priority)

    @rule(space=spaces, tokens=some_tokens, ttl=seconds, priority=st.integers(0, 2))
    def anything_is_kept(self, space: str, tokens: list[int], ttl: int, priority: int) -> None:
        self.twin.pin(space, tokens, ttl=ttl, priority=priority)

    @rule(data=st.data())
    def is_kept_no_longer(self, data: st.DataObject) -> None:
        if self.twin.pins:
            self.twin.unpin(data.draw(st.sampled_from(self.twin.pins)))

    @rule(seconds=seconds)
    def time_passes(self, seconds: int) -> None:
        self.twin.pass_time(seconds)


TestKeepingMachine = KeepingMachine.TestCase
TestKeepingMachine.settings = settings(
    max_examples=120, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)


def keeping_work(rng: random.Random, operations: int, *, every: int = 1, **pool: Any) -> Twin:
    """Random work as `random_work` does it, with pins and time between."""
    twin = Twin(**pool)
    for number in range(1, operations + 1):
        twin.sequences[:-20] = [s for s in twin.sequences[:-20] if s.holding is not None]
        _one_more_operation(rng, twin)
        if number % every:
            twin.cache.audit()
        else:
            twin.check()
    return twin


def _one_more_operation(rng: random.Random, twin: Twin) -> None:
    dice = rng.random()
    if dice < 0.08 and twin.sequences:
        of = rng.choice(twin.sequences)
        kept = of.tokens[: rng.randint(0, len(of.tokens))]
        twin.pin(of.space, kept, ttl=rng.randint(1, 40), priority=rng.randint(0, 2))
    elif dice < 0.10 and twin.pins:
        twin.unpin(rng.choice(twin.pins))
    elif dice < 0.25:
        twin.pass_time(rng.randint(1, 3))
    else:
        one_operation(rng, twin)


POOLS = [(2, 1, 0), (7, 4, 0), (12, 1, 1), (30, 3, 2), (30, 3, 0), (12, 2, 0), (6, 16, 0)]
"""Blocks, tokens in each, and blocks in a unit of reuse (0: every token)."""


@pytest.mark.parametrize("ttl", [None, 9])
@pytest.mark.parametrize("index", sorted(INDEXES))
@pytest.mark.parametrize(("blocks", "size", "factor"), POOLS)
def test_random_work_with_pins_and_time_agrees_with_the_oracle(
    blocks: int, size: int, factor: int, index: str, ttl: int | None
) -> None:
    rng = random.Random(blocks * 100 + size)
    keeping_work(rng, 300, blocks=blocks, size=size, factor=factor, index=index, ttl=ttl)


@pytest.mark.slow
@pytest.mark.parametrize("index", sorted(INDEXES))
@pytest.mark.parametrize("ttl", [None, 12])
def test_thousands_of_operations_with_pins_and_time_leave_the_books_right_after_each(
    index: str, ttl: int | None
) -> None:
    """Compared with the oracle, which is slow, after every twentieth."""
    rng = random.Random(11)
    for blocks, size, factor in POOLS[1:]:
        pool = {"blocks": blocks, "size": size, "factor": factor, "ttl": ttl, "lazy": True}
        twin = keeping_work(rng, 2_000, every=20, index=index, **pool)
        assert twin.cache.evicted > 100, "the pool was never under pressure"
