"""The scheduler with a real cache and no tensors: a player runs each step's work in no time."""

import random
from array import array
from collections.abc import Sequence as Tokens

import pytest

from headstart.cache import Namespace, PrefixCache
from headstart.engine.scheduler import Scheduler, Work
from headstart.engine.sequence import Group, Sequence

SIZE = 4
NAMESPACE = Namespace(
    weights=b"w",
    adapter=None,
    tenant="",
    salt=None,
    dtype="float32",
    layout="",
    rope="",
    block_size=SIZE,
)


class Player:
    """Plays the engine: samples token numbers that are never the same twice."""

    def __init__(
        self, blocks: int, *, budget: int = 32, running: int = 8, chunk: int | None = None
    ) -> None:
        self.cache = PrefixCache(blocks, SIZE, reuse_unit=chunk)
        self.scheduler = Scheduler(
            self.cache, max_batch_tokens=budget, max_running=running, chunk=chunk, patience=5.0
        )
        self.now = 0.0
        self.arrivals = 0
        self.budget = budget
        self.chunk = chunk
        self.live: list[Sequence] = []
        self.done: list[Sequence] = []
        self.work: list[Work] = []
        self.computed: dict[int, int] = {}
        """Prompt tokens run, by arrival."""

    def arrive(
        self, prompt: Tokens[int], max_tokens: int = 3, group: Group | None = None
    ) -> Sequence:
        sequence = Sequence(
            group or Group(len(prompt)),
            array("I", prompt),
            self.cache.chain(NAMESPACE),
            self.arrivals,
            max_tokens,
        )
        self.computed[sequence.arrival] = 0
        self.arrivals += 1
        self.live.append(sequence)
        self.scheduler.add(sequence)
        return sequence

    def plan(self) -> list[Work]:
        self.work = self.scheduler.plan(self.now)
        spent = sum(work.count for work in self.work)
        decodes = sum(work.count == 1 for work in self.work)
        assert spent <= max(self.budget, decodes) + (self.chunk or 0)
        for work in self.work:
            assert work.sequence.lease is not None
            covered = len(work.sequence.lease.blocks) * SIZE
            assert work.sequence.computed + work.count <= covered
            assert work.sequence.in_step
        assert len({work.sequence.arrival for work in self.work}) == len(self.work)
        return self.work

    def complete(self) -> None:
        for work in self.work:
            sequence = work.sequence
            before = min(sequence.computed, sequence.prompt_tokens)
            self.scheduler.complete(work, self.now)
            after = min(sequence.computed, sequence.prompt_tokens)
            self.computed[sequence.arrival] += after - before
            if sequence.cancelled:
                self.end(sequence)
            elif work.samples:
                sequence.tokens.append(1_000_000 + sequence.arrival * 1000 + sequence.generated)
                if sequence.generated >= sequence.max_tokens:
                    self.end(sequence)
                    self.done.append(sequence)
        self.work = []
        self.cache.audit()

    def cancel(self, sequence: Sequence) -> None:
        sequence.cancelled = True
        if not sequence.in_step:
            self.end(sequence)

    def end(self, sequence: Sequence) -> None:
        self.scheduler.finish(sequence)
        self.live.remove(sequence)

    def step(self) -> list[Work]:
        work = self.plan()
        self.complete()
        return work

    def run(self, steps: int = 2000) -> None:
        for _ in range(steps):
            if not self.live:
                return
            self.step()
            self.now += 0.1
        raise AssertionError(f"{len(self.live)} requests never end")


def test_decodes_come_first_and_prefill_takes_the_rest_of_the_budget() -> None:
    player = Player(100, budget=16)
    streaming = player.arrive(range(8), max_tokens=50)
    player.step()
    player.arrive(range(100, 140))
    for _ in range(2):
        work = {item.sequence: item.count for item in player.step()}
        assert work.pop(streaming) == 1
        assert list(work.values()) == [15]


def test_prompts_are_admitted_in_order_of_arrival() -> None:
    player = Player(100, budget=8, running=2)
    first, second, third = (player.arrive(range(50 * i, 50 * i + 12)) for i in range(3))
    player.step()
    assert player.scheduler.running == [first]
    player.step()
    assert player.scheduler.running == [first, second]
    assert list(player.scheduler.waiting) == [third]


def test_a_request_waits_until_its_prompt_fits_beside_room_for_the_others_to_grow() -> None:
    player = Player(8, budget=64)
    running = player.arrive(range(16), max_tokens=8)
    player.step()
    waiting = player.arrive(range(100, 116))
    player.step()
    assert player.scheduler.running == [running]
    assert list(player.scheduler.waiting) == [waiting]
    player.run()
    assert player.done == [running, waiting]


def test_the_latest_arrival_is_preempted_and_ends_all_the_same() -> None:
    player = Player(8, budget=64)
    old, young = (
        player.arrive(range(12), max_tokens=14),
        player.arrive(range(50, 58), max_tokens=14),
    )
    while not player.scheduler.counters.preemptions:
        player.step()
    assert player.scheduler.running == [old]
    assert list(player.scheduler.waiting) == [young]
    player.run()
    assert [len(s.tokens) for s in (old, young)] == [26, 22]
    assert player.scheduler.counters.recomputed_tokens > 0


def test_acct_14_a_preempted_request_is_no_hit() -> None:
    player = Player(8, budget=64)
    player.arrive(range(12), max_tokens=14)
    player.arrive(range(50, 58), max_tokens=14)
    player.run()
    assert player.scheduler.counters.preemptions > 0
    rates = player.scheduler.tally.rates(player.now)
    assert (rates.prompt, rates.hit) == (20, 0)


def test_sched_01_a_cold_herd_computes_its_prefix_once() -> None:
    player = Player(4000, budget=256, running=64)
    prefix = range(8000)
    herd = [player.arrive([*prefix, 9000 + i, 9100 + i]) for i in range(32)]
    player.run()
    assert len(player.done) == 32
    assert sum(player.computed.values()) <= 8000 + 32 * (SIZE + 2)
    assert sum(s.group.reuse.cached_tokens for s in herd if s.group.reuse) == 31 * 8000


def test_sched_01_when_the_first_is_cancelled_another_takes_over() -> None:
    player = Player(400, budget=64)
    prefix = range(400)
    first, *others = [player.arrive([*prefix, 900 + i]) for i in range(4)]
    player.step()
    player.plan()
    player.cancel(first)
    assert first.lease is not None, "its step is running: nothing may be given away yet"
    player.complete()
    assert first.lease is None
    player.run()
    assert player.done == others
    assert sum(player.computed.values()) <= 400 + 4 * (SIZE + 1)


def test_waiting_for_another_is_bounded_when_it_makes_no_progress() -> None:
    player = Player(400, budget=64)
    stuck = player.arrive(range(40))
    player.plan()  # and its step never completes
    follower = player.arrive([*range(40), 7])
    player.scheduler.plan(now=1.0)
    assert follower.lease is None
    player.scheduler.plan(now=5.9)
    assert follower.lease is None
    player.scheduler.plan(now=6.1)
    assert follower.lease is not None
    assert stuck.lease is not None


def test_acct_13_choices_of_one_request_count_its_prompt_once_and_report_no_hit() -> None:
    player = Player(100)
    group = Group(20)
    for _ in range(4):
        player.arrive(range(20), group=group)
    player.run()
    assert group.reuse is not None
    assert group.reuse.cached_tokens == 0
    rates = player.scheduler.tally.rates(player.now)
    assert (rates.prompt, rates.hit) == (20, 0)


def test_a_reset_between_plan_and_complete_leaves_nothing_of_the_old_to_find() -> None:
    player = Player(100, budget=64)
    player.arrive(range(40), max_tokens=1)
    player.plan()
    player.cache.reset()
    player.complete()
    again = player.arrive(range(40), max_tokens=1)
    player.run()
    assert again.group.reuse is not None
    assert again.group.reuse.cached_tokens == 0


def test_sched_03_a_prompt_is_found_while_its_first_reader_still_decodes() -> None:
    player = Player(100, budget=64)
    player.arrive(range(40), max_tokens=100)
    player.step()
    second = player.arrive([*range(40), 7], max_tokens=1)
    player.step()
    assert second.group.reuse is not None
    assert second.group.reuse.cached_tokens == 40


def test_deterministic_chunks_never_cross_a_border_and_generated_tokens_come_singly() -> None:
    player = Player(8, budget=64, chunk=8)
    player.arrive(range(11), max_tokens=15)
    player.arrive(range(50, 59), max_tokens=15)
    while player.live:
        for work in player.step():
            sequence = work.sequence
            start = sequence.computed - work.count
            if start < sequence.prompt_tokens:
                end = start + work.count
                assert start % 8 == 0
                assert end == min(start + 8, sequence.prompt_tokens)
            else:
                assert work.count == 1
    assert player.scheduler.counters.preemptions > 0


@pytest.mark.parametrize("chunk", [None, 8])
@pytest.mark.parametrize("seed", range(12))
def test_random_traffic_on_a_tiny_pool_always_ends_with_honest_counts(
    seed: int, chunk: int | None
) -> None:
    rng = random.Random(seed)
    blocks = rng.randint(14, 40)
    player = Player(blocks, budget=rng.choice([5, 16, 64]), running=rng.randint(1, 6), chunk=chunk)
    stems = [[1000 * s + i for i in range(40)] for s in range(3)]
    requests: list[Sequence] = []
    for _ in range(400):
        if len(requests) < 60 and rng.random() < 0.3:
            stem = rng.choice(stems)[: rng.randint(0, 30)]
            tail = [rng.randrange(5000, 5020) for _ in range(rng.randint(1, 12))]
            requests.append(player.arrive(stem + tail, max_tokens=rng.randint(1, 10)))
        player.plan()
        if player.live and rng.random() < 0.1:
            player.cancel(rng.choice(player.live))
        if rng.random() < 0.02:
            player.cache.reset()
        player.complete()
        player.now += 0.1
    player.run()
    assert player.cache.leased == 0
    for sequence in player.done:
        reuse = sequence.group.reuse
        assert reuse is not None
        assert 0 <= reuse.cached_tokens < reuse.prompt_tokens
        # Law 2: what is reported as reused was not computed, at least not before the first token.
        assert player.computed[sequence.arrival] >= reuse.prompt_tokens - reuse.cached_tokens
        if not player.scheduler.counters.preemptions:
            assert player.computed[sequence.arrival] == reuse.prompt_tokens - reuse.cached_tokens
