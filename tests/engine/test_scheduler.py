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


class Memory:
    """Stands for the pool: every slot remembers which prefix its KV was computed from.

    A step reads what it needs and fails the test if anything else is there.
    """

    def __init__(self) -> None:
        self._slots: dict[int, int] = {}

    def copy(self, source: int, target: int, tokens: int) -> None:
        """As the engine does before a step: the beginning of one block into another."""
        for at in range(tokens):
            self._slots[target * SIZE + at] = self._slots[source * SIZE + at]

    def run(self, work: Work, others: Tokens[Sequence]) -> None:
        sequence = work.sequence
        assert sequence.lease is not None
        table = sequence.lease.blocks
        prefix = 0
        for at, token in enumerate(sequence.tokens[: sequence.computed + work.count]):
            prefix = hash((prefix, token))
            slot = table[at // SIZE] * SIZE + at % SIZE
            if at < sequence.computed:
                assert self._slots[slot] == prefix, "KV of something else, or never written"
                continue
            for other in others:
                assert other is sequence or table[at // SIZE] not in other.lease.blocks, (
                    "a block that another reads is written"
                )
            self._slots[slot] = prefix


class Player:
    """Plays the engine: samples token numbers that are never the same twice."""

    def __init__(
        self, blocks: int, *, budget: int = 32, running: int = 8, chunk: int | None = None
    ) -> None:
        self.cache = PrefixCache(blocks, SIZE, reuse_unit=chunk or 1)
        self.scheduler = Scheduler(
            self.cache, max_batch_tokens=budget, max_running=running, chunk=chunk, patience=5.0
        )
        self.now = 0.0
        self.arrivals = 0
        self.budget, self.most_running = budget, running
        self.chunk = chunk
        self.live: list[Sequence] = []
        self.done: list[Sequence] = []
        self.work: list[Work] = []
        self.memory = Memory()
        self.computed: dict[int, int] = {}
        """Prompt tokens run, by arrival."""
        self.reached: dict[int, int] = {}
        """Most tokens whose KV was there at once, by arrival."""
        self.prefilled = self.recomputed = 0
        """What the counters should say."""

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
        self.computed[sequence.arrival] = self.reached[sequence.arrival] = 0
        self.arrivals += 1
        self.live.append(sequence)
        self.scheduler.add(sequence)
        return sequence

    def plan(self) -> list[Work]:
        decoding = [s for s in self.scheduler.running if len(s.tokens) - s.computed == 1]
        self.work = self.scheduler.plan(self.now)
        for copy in self.cache.take_copies():
            self.memory.copy(*copy)
        spent = sum(work.count for work in self.work)
        # With fixed borders the last chunk may go over the budget, which it found not yet spent.
        assert spent <= self.budget + (0 if self.chunk is None else self.chunk - 1)
        in_work = {work.sequence for work in self.work}
        if in_work - set(decoding):
            assert in_work.issuperset(s for s in decoding if s.lease is not None)
        assert len(in_work) == len(self.work)
        waiting = [sequence.arrival for sequence in self.scheduler.waiting]
        assert waiting == sorted(waiting)
        assert len(self.scheduler.running) <= self.most_running
        for work in self.work:
            sequence = work.sequence
            assert work.count > 0
            assert sequence.in_step
            assert sequence.lease is not None
            assert sequence.computed + work.count <= len(sequence.lease.blocks) * SIZE
            assert work.samples == (sequence.computed + work.count == len(sequence.tokens))
        return self.work

    def compute(self) -> None:
        for work in self.work:
            sequence = work.sequence
            self.memory.run(work, self.scheduler.running)
            reached = max(self.reached[sequence.arrival], sequence.computed)
            end = sequence.computed + work.count
            again = min(reached, end) - sequence.computed
            self.recomputed += again
            self.prefilled += max(
                again,
                min(sequence.prompt_tokens, end) - min(sequence.prompt_tokens, sequence.computed),
            )
            self.reached[sequence.arrival] = max(reached, end)

    def complete(self) -> None:
        self.compute()
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
        counters = self.scheduler.counters
        assert counters.recomputed_tokens == self.recomputed
        assert counters.prefill_tokens == self.prefilled

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


def until_preempted(player: Player) -> list[Work]:
    """Step until a sequence had to give way; the work of that step."""
    for _ in range(200):
        work = player.step()
        if player.scheduler.counters.preemptions:
            return work
    raise AssertionError("nobody was preempted")


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
    until_preempted(player)
    assert player.scheduler.running == [old]
    assert list(player.scheduler.waiting) == [young]
    player.run()
    assert [len(s.tokens) for s in (old, young)] == [26, 22]
    assert player.scheduler.counters.recomputed_tokens > 0


@pytest.mark.parametrize("tail_lost", [False, True])
def test_only_what_was_computed_before_counts_as_computed_again(tail_lost: bool) -> None:
    """The old one ends with 21 or 25 tokens computed: 6 or 7 blocks of 9, beside 3 or 2 kept."""
    player = Player(9, budget=2)
    player.arrive(range(10), max_tokens=16 if tail_lost else 12)
    young = player.arrive(range(50, 66), max_tokens=1)
    until_preempted(player)
    reached = player.reached[young.arrival]
    assert 2 * SIZE < reached < 3 * SIZE, "it was preempted while it computed its prompt"
    player.run()
    # What it had computed is still there, but for the tail if that had to go. The rest of its
    # prompt was never computed before.
    kept = 2 * SIZE if tail_lost else reached
    assert player.scheduler.counters.recomputed_tokens == reached - kept


def test_the_latest_arrival_that_can_not_grow_gives_way_itself() -> None:
    player = Player(5, budget=64)
    old = player.arrive(range(9), max_tokens=12)
    young = player.arrive(range(50, 54), max_tokens=12)
    work = until_preempted(player)
    assert (young.lease, young.computed, young.in_step) == (None, 0, False)
    assert [item.sequence for item in work] == [old]
    player.run()
    assert player.done == [old, young]


def test_a_preempted_sequence_queues_up_by_its_arrival() -> None:
    player = Player(15, budget=32)
    leader = player.arrive(range(40), max_tokens=20)
    follower = player.arrive([*range(40), 7])
    stranger = player.arrive(range(100, 113), max_tokens=20)
    player.step()
    player.step()
    assert player.scheduler.running == [leader, stranger], "it need not wait for a prefix"
    until_preempted(player)
    assert player.scheduler.running == [leader]
    assert list(player.scheduler.waiting) == [follower, stranger]
    player.run()
    assert set(player.done) == {leader, follower, stranger}


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
    assert sum(player.computed.values()) == 8000 + 32 * 2
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


def test_waiting_goes_on_as_long_as_the_other_makes_progress() -> None:
    player = Player(400, budget=8)
    player.arrive(range(80))
    player.plan()
    follower = player.arrive([*range(80), 7])
    for _ in range(10):  # 40 seconds, far beyond the patience of 5, in steps within it
        player.complete()
        player.now += 4.0
        player.plan()
    player.complete()
    player.run()
    assert follower.group.reuse is not None
    assert follower.group.reuse.cached_tokens == 80


def test_a_reset_ends_the_wait_for_what_will_not_be_found() -> None:
    player = Player(400, budget=32)
    leader = player.arrive(range(64))
    follower = player.arrive(range(64))
    player.plan()
    assert (leader.in_step, follower.in_step) == (True, False)
    player.cache.reset()
    player.complete()
    player.step()  # takes the leader's other 32 tokens
    assert player.step()[-1].sequence is follower
    player.run()
    assert player.done == [leader, follower]


def test_a_waiting_sequence_can_be_let_go_and_letting_go_twice_is_once() -> None:
    player = Player(100, budget=8, running=1)
    running, waiting = player.arrive(range(12)), player.arrive(range(50, 60))
    player.step()
    player.cancel(waiting)
    player.scheduler.finish(waiting)
    assert not player.scheduler.waiting
    player.cancel(running)
    player.scheduler.finish(running)
    assert not player.scheduler.running
    assert player.cache.leased == 0
    assert player.step() == []


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


@pytest.mark.parametrize("max_running", [8, 1])
def test_sched_14_what_the_head_of_the_queue_will_reuse_is_given_up_last(max_running: int) -> None:
    """Whether room or `max_running` keeps it waiting."""
    player = Player(12, budget=64, running=max_running)
    for other in (range(16), range(200, 208)):
        player.arrive(other, max_tokens=1)
        player.run()
    growing = player.arrive(range(100, 108), max_tokens=40)
    while player.cache.available - player.cache.cached or len(growing.tokens) % SIZE:
        player.step()
    # The first prompt is the oldest; the second was used after it, and nobody waits for it.
    head = player.arrive([*range(16), *range(300, 304 if max_running == 1 else 316)], max_tokens=1)
    evicted = player.cache.evicted
    while player.cache.evicted == evicted:
        player.step()
    assert head.lease is None
    assert player.cache.match(head.chain, head.tokens).cached_tokens == 16


def test_sched_03_a_prompt_is_found_while_its_first_reader_still_decodes() -> None:
    player = Player(100, budget=64)
    player.arrive(range(40), max_tokens=100)
    player.step()
    second = player.arrive([*range(40), 7], max_tokens=1)
    player.step()
    assert second.group.reuse is not None
    assert second.group.reuse.cached_tokens == 40


@pytest.mark.parametrize("common", range(1, 14))
def test_a_prompt_that_leaves_a_cached_one_inside_a_block_reuses_up_to_there(common: int) -> None:
    player = Player(100, budget=64)
    player.arrive(range(13), max_tokens=1)
    player.run()
    branch = player.arrive([*range(common), 99, 98], max_tokens=1)
    player.run()
    assert branch.group.reuse is not None
    assert branch.group.reuse.cached_tokens == common
    assert player.computed[branch.arrival] == 2


@pytest.mark.parametrize("cancelled", [False, True])
def test_what_was_generated_is_found_to_the_last_computed_token(cancelled: bool) -> None:
    player = Player(100, budget=64)
    first = player.arrive(range(6), max_tokens=50 if cancelled else 8)
    while len(first.tokens) < 14:
        player.step()
    if cancelled:
        player.cancel(first)
    # The last token drawn was never run.
    turn = player.arrive([*first.tokens, 7, 8], max_tokens=1)
    player.run()
    assert turn.group.reuse is not None
    assert turn.group.reuse.cached_tokens == 13


def test_a_prompt_end_inside_a_block_is_found_while_its_first_reader_still_decodes() -> None:
    player = Player(100, budget=64)
    player.arrive(range(42), max_tokens=100)
    player.step()
    followers = [player.arrive(range(42), max_tokens=1), player.arrive([*range(42), 7], 1)]
    player.step()
    assert [f.group.reuse and f.group.reuse.cached_tokens for f in followers] == [41, 42]


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
@pytest.mark.parametrize("seed", range(25))
def test_random_traffic_on_a_tiny_pool_always_ends_with_honest_counts(
    seed: int, chunk: int | None
) -> None:
    rng = random.Random(seed)
    blocks = rng.randint(14, 40)
    player = Player(
        blocks, budget=rng.choice([1, 5, 16, 64]), running=rng.randint(1, 6), chunk=chunk
    )
    stems = [[1000 * s + i for i in range(40)] for s in range(3)]
    groups: dict[Group, list[Sequence]] = {}
    for _ in range(400):
        if len(groups) < 60 and rng.random() < 0.3:
            stem = rng.choice(stems)[: rng.randint(0, 30)]
            if player.done and rng.random() < 0.3:
                stem = list(rng.choice(player.done).tokens)[:30]  # a next turn
            tail = [rng.randrange(5000, 5020) for _ in range(rng.randint(1, 12))]
            group = Group(len(stem + tail))
            most = rng.randint(1, 10)
            groups[group] = [
                player.arrive(stem + tail, most, group) for _ in range(rng.choice([1, 1, 1, 3]))
            ]
        player.plan()
        if player.live and rng.random() < 0.1:
            player.cancel(rng.choice(player.live))
        if rng.random() < 0.02:
            player.cache.reset()
        player.complete()
        player.now += 0.1
    player.run()
    assert player.cache.leased == 0
    accounts = [group.reuse for group in groups if group.reuse is not None]
    rates = player.scheduler.tally.rates(player.now)
    assert rates.prompt == sum(reuse.prompt_tokens for reuse in accounts)
    assert rates.hit == sum(reuse.cached_tokens for reuse in accounts)
    for sequence in player.done:
        reuse = sequence.group.reuse
        assert reuse is not None
        assert 0 <= reuse.cached_tokens < reuse.prompt_tokens
        # Law 2: what is reported as reused was computed by none of the request's choices before
        # the first token was there.
        computed = [player.computed[s.arrival] for s in groups[sequence.group]]
        assert sum(computed) >= reuse.prompt_tokens - reuse.cached_tokens
        if not player.scheduler.counters.preemptions and len(computed) == 1:
            assert computed == [reuse.prompt_tokens - reuse.cached_tokens]
