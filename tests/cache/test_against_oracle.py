"""Random work on the cache, held step by step to a naive model of it (see oracle.py, twin.py)."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule
from tests.cache.twin import TENANTS, Sequence, Twin
from tests.search import examples

from headstart.cache import INDEXES

tenants = st.sampled_from(TENANTS)
some_tokens = st.lists(st.integers(0, 1), max_size=14)
counts = st.integers(0, 14)
seconds = st.integers(1, 8)
priorities = st.integers(0, 2)


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
        ttl=st.none() | seconds,
        declared=st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=3), max_size=2),
    )
    def begin(self, blocks: int, size: int, **options: Any) -> None:
        self.twin = Twin(blocks, size, **options)

    @rule(target=sequences, tenant=tenants, tokens=some_tokens, spare=st.sampled_from([0, 0, 1, 8]))
    def arrives(self, tenant: str, tokens: list[int], spare: int) -> Sequence:
        sequence = self.twin.start(tenant, tokens)
        self.twin.acquire(sequence, spare=spare)
        return sequence

    @rule(target=sequences, of=sequences, tenant=tenants, keep=counts, tail=some_tokens)
    def branches(self, of: Sequence, tenant: str, keep: int, tail: list[int]) -> Sequence:
        sequence = self.twin.start(tenant, [*of.tokens[:keep], *tail])
        self.twin.acquire(sequence)
        return sequence

    @rule(target=sequences, of=sequences, turn=some_tokens)
    def goes_on(self, of: Sequence, turn: list[int]) -> Sequence:
        sequence = self.twin.start(of.space.tenant, [*of.tokens, *turn])
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
            run_to_its_end(self.twin, sequence)

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

    @rule(sequence=sequences)
    def goes_down_to_a_tier(self, sequence: Sequence) -> None:
        if sequence.holding is not None:
            self.twin.send_down(sequence)

    @rule(sequence=sequences)
    def begins_to_come_up(self, sequence: Sequence) -> None:
        if sequence.holding is None:
            self.twin.ask_tier(sequence)

    @rule(of=sequences, keep=counts, ttl=seconds, priority=priorities)
    def is_kept(self, of: Sequence, keep: int, ttl: int, priority: int) -> None:
        self.twin.pin(of.space.tenant, of.tokens[:keep], ttl=ttl, priority=priority)

    @rule(tenant=tenants, tokens=some_tokens, ttl=seconds, priority=priorities)
    def anything_is_kept(self, tenant: str, tokens: list[int], ttl: int, priority: int) -> None:
        self.twin.pin(tenant, tokens, ttl=ttl, priority=priority)

    @rule(data=st.data())
    def is_kept_no_longer(self, data: st.DataObject) -> None:
        if self.twin.pins:
            self.twin.unpin(data.draw(st.sampled_from(self.twin.pins)))

    @rule(seconds=seconds)
    def time_passes(self, seconds: int) -> None:
        self.twin.pass_time(seconds)

    @rule(cached=counts)
    def is_trimmed(self, cached: int) -> None:
        self.twin.trim(cached)

    @rule()
    def is_reset(self) -> None:
        self.twin.reset()

    @rule()
    def has_other_weights(self) -> None:
        self.twin.reload()

    @invariant()
    def both_agree(self) -> None:
        self.twin.check()


TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = settings(
    max_examples=examples(120), stateful_step_count=40, suppress_health_check=list(HealthCheck)
)


def run_to_its_end(twin: Twin, sequence: Sequence) -> None:
    """As a request that nothing happens to."""
    twin.compute(sequence, len(sequence.tokens))
    twin.publish(sequence, sequence.computed)
    twin.send_down(sequence)
    twin.release(sequence)


Kind = Callable[[random.Random, Twin], object]


def a_live_one(rng: random.Random, twin: Twin) -> Sequence | None:
    live = [sequence for sequence in twin.sequences if sequence.holding is not None]
    return rng.choice(live) if live else None


def a_waiting_one(rng: random.Random, twin: Twin) -> Sequence | None:
    waiting = [sequence for sequence in twin.sequences if sequence.holding is None]
    return rng.choice(waiting) if waiting else None


def some(rng: random.Random, most: int, least: int = 0) -> list[int]:
    return [rng.randint(0, 2) for _ in range(rng.randint(least, most))]


def insert(rng: random.Random, twin: Twin) -> None:
    """A prompt of its own, or one that begins with what is declared."""
    begin = list(rng.choice(twin.declared)) if twin.declared and rng.random() < 0.5 else []
    sequence = twin.start(rng.choice(TENANTS), [*begin, *some(rng, 3 * twin.oracle.size)])
    twin.acquire(sequence, room=rng.randint(0, 4), spare=rng.choice([0, 0, 1, 6]))


def fork(rng: random.Random, twin: Twin) -> None:
    """A prompt that begins like another, or goes on from it."""
    of = rng.choice(twin.sequences).tokens if twin.sequences else []
    tokens = [*of[: rng.randint(0, len(of))], *some(rng, 3 * twin.oracle.size)][:60]
    sequence = twin.start(rng.choice(TENANTS), tokens)
    twin.acquire(sequence, room=rng.randint(0, 4), spare=rng.choice([0, 0, 1, 6]))


def resume(rng: random.Random, twin: Twin) -> None:
    """What was preempted or refused comes again, or what waited for a tier."""
    loading = [each for each in twin.sequences if each.holding is None and each.load is not None]
    sequence = rng.choice(loading) if loading else a_waiting_one(rng, twin)
    if sequence is not None:
        twin.acquire(sequence)


def compute(rng: random.Random, twin: Twin) -> None:
    if (sequence := a_live_one(rng, twin)) is not None:
        twin.compute(sequence, rng.randint(1, 4 * twin.oracle.size))


def publish(rng: random.Random, twin: Twin) -> None:
    if (sequence := a_live_one(rng, twin)) is not None:
        ready = rng.randint(sequence.computed // 2, sequence.computed)
        twin.publish(sequence, ready, tail=rng.random() < 0.7)


def append(rng: random.Random, twin: Twin) -> None:
    if (sequence := a_live_one(rng, twin)) is not None:
        twin.append(sequence, some(rng, 6, 1))


def match(rng: random.Random, twin: Twin) -> None:
    if twin.sequences:
        twin.look(rng.choice(twin.sequences))


def finish(rng: random.Random, twin: Twin) -> None:
    if (sequence := a_live_one(rng, twin)) is not None:
        run_to_its_end(twin, sequence)


def abort(rng: random.Random, twin: Twin) -> None:
    if (sequence := a_live_one(rng, twin)) is not None:
        twin.release(sequence, rng.randint(1, 2))


def evict(rng: random.Random, twin: Twin) -> None:
    """Beside all that is evicted to make room."""
    twin.trim(rng.randint(0, twin.cache.cached))


def expire(rng: random.Random, twin: Twin) -> None:
    """Time passes, in which pins run out, and prefixes where they have a time to live."""
    twin.pass_time(rng.randint(1, 3))


def pin(rng: random.Random, twin: Twin) -> None:
    if twin.sequences:
        of = rng.choice(twin.sequences)
        kept = of.tokens[: rng.randint(0, len(of.tokens))]
        twin.pin(of.space.tenant, kept, ttl=rng.randint(1, 40), priority=rng.randint(0, 2))


def unpin(rng: random.Random, twin: Twin) -> None:
    if twin.pins:
        twin.unpin(rng.choice(twin.pins))


def write_down(rng: random.Random, twin: Twin) -> None:
    if (sequence := a_live_one(rng, twin)) is not None:
        twin.send_down(sequence)


def read_up(rng: random.Random, twin: Twin) -> None:
    """The same again, in flight from a tier until it is admitted; all else may happen before."""
    if (of := a_waiting_one(rng, twin)) is not None:
        twin.ask_tier(twin.start(of.space.tenant, [*of.tokens, *some(rng, 2)]))


def reset(_: random.Random, twin: Twin) -> None:
    twin.reset()


def reload(_: random.Random, twin: Twin) -> None:
    twin.reload()


KINDS: dict[Kind, int] = {
    insert: 60,
    fork: 110,
    resume: 50,
    compute: 90,
    publish: 70,
    append: 40,
    match: 15,
    finish: 45,
    abort: 30,
    evict: 3,
    expire: 40,
    pin: 30,
    unpin: 10,
    write_down: 30,
    read_up: 50,
    reset: 2,
    reload: 2,
}
"""What may happen, and how often among all that happens."""


def random_work(
    rng: random.Random, operations: int, *, every: int = 1, **pool: Any
) -> tuple[Twin, Counter[Kind]]:
    """Like the machine, but long: requests come, run, and go, over a pool that is always full.

    The books are audited after each operation, and compared after each `every`-th.
    """
    twin, done = Twin(**pool), Counter[Kind]()
    for number in range(1, operations + 1):
        twin.sequences[:-20] = [s for s in twin.sequences[:-20] if s.holding is not None]
        (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
        kind(rng, twin)
        done[kind] += 1
        if number % every:
            twin.cache.audit()
        else:
            twin.check()
    return twin, done


POOLS = [(1, 1, 0), (3, 2, 1), (7, 4, 0), (12, 1, 1), (30, 3, 2), (30, 3, 0), (6, 16, 0)]
"""Blocks, tokens in each, and blocks in a unit of reuse (0: every token)."""

DECLARED = ((0, 1), (0,), (2, 2, 2))
"""One within another, and one of its own."""


@pytest.mark.parametrize(
    "options", [{"declared": DECLARED}, {"lazy": True, "ttl": 9}], ids=["shared", "expiring"]
)
@pytest.mark.parametrize("index", sorted(INDEXES))
@pytest.mark.parametrize(("blocks", "size", "factor"), POOLS)
def test_random_work_agrees_with_the_oracle(
    blocks: int, size: int, factor: int, index: str, options: dict[str, Any]
) -> None:
    rng = random.Random(blocks * 100 + size)
    random_work(rng, 300, blocks=blocks, size=size, factor=factor, index=index, **options)


def test_a_disabled_cache_agrees_with_an_oracle_that_keeps_nothing() -> None:
    twin, _ = random_work(random.Random(9), 300, blocks=10, size=2, enabled=False)
    assert (twin.cache.cached, twin.cache.evicted) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("index", sorted(INDEXES))
def test_a_hundred_thousand_operations_leave_the_books_right_after_each(index: str) -> None:
    """Compared with the oracle, which is slow, after every hundredth."""
    rng, done, splits, loaded = random.Random(7), Counter[Kind](), 0, 0
    pools = [*POOLS[1:], (16, 3, 0), (8, 2, 0), (5, 4, 0), (20, 2, 0)]
    for ttl, lazy, declared in [(None, False, DECLARED), (12, True, DECLARED), (None, True, ())]:
        for blocks, size, factor in pools:
            pool = {"blocks": blocks, "size": size, "factor": factor, "lazy": lazy, "ttl": ttl}
            twin, kinds = random_work(rng, 3_334, every=100, index=index, declared=declared, **pool)
            assert twin.cache.evicted > 100, "the pool was never under pressure"
            done += kinds
            splits += twin.splits.held
            loaded += twin.loaded
            for sequence in twin.sequences:
                if sequence.holding is not None:
                    twin.release(sequence)
            twin.reset()
            twin.check()
            assert (twin.cache.available, twin.cache.cached) == (blocks, 0)
    assert done.total() >= 100_000
    assert min(done[kind] for kind in KINDS) > 200
    assert loaded > 1_000
    assert splits > 100 or index == "hash"  # Where a block is a node, nothing is split.
