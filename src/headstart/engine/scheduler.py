"""Which tokens the next step computes. A state machine: no clock, no threads, no tensors.

A step has a budget of tokens. Running sequences that decode take one each, first; what is left goes
to prefill in order of arrival, in chunks, so that a long prompt never stalls a running stream. Then
waiting sequences are admitted, in order, if their whole prompt fits beside room for every running
one to grow. When a running sequence can't grow, the latest arrival is preempted: its blocks are
released (what it published stays findable) and it is computed again later.

Sequences whose next block is being computed by another wait for it (single flight) as long as it
makes progress within `patience`; if the other ends or is cancelled, its announcement is gone and
the next step admits them.
"""

from collections import deque
from dataclasses import dataclass
from typing import Protocol

from headstart.cache import Lease, Miss, PrefixCache, Tally, Visit
from headstart.engine.api import Reuse
from headstart.engine.sequence import Sequence

ROOM_TOKENS = 1024
"""Growth that is planned for when a sequence is placed in the pool."""


@dataclass(frozen=True, slots=True)
class Work:
    """`count` tokens of a sequence, from `sequence.computed` on; `samples` if they end it."""

    sequence: Sequence
    count: int
    samples: bool


@dataclass(slots=True)
class Counters:
    """Since start."""

    prefill_tokens: int = 0
    recomputed_tokens: int = 0
    preemptions: int = 0


class Loader(Protocol):
    """Brings up what the pool hasn't got from the tiers, and sends down what it has."""

    def begin(self, sequence: Sequence, limit: int | None = None) -> None:
        """Ask for what the pool lacks of the sequence's first `limit` tokens."""
        ...

    def waits(self, sequence: Sequence) -> bool:
        """Whether more of the sequence may still come."""
        ...

    def admitted(self, sequence: Sequence) -> None:
        """The sequence has its lease; `computed` grows by what is brought into it."""
        ...

    def released(self, sequence: Sequence) -> None:
        """The sequence is about to give up its lease; what it has computed is published."""
        ...


class Scheduler:
    """Owns the waiting and running sequences and their leases.

    `chunk`: fixed chunk borders, in tokens (deterministic mode): a chunk never crosses a multiple
    of it, chunks that end short of one are not published, and what was generated is computed token
    by token also after a preemption. None: chunks are as long as the budget allows.
    """

    def __init__(
        self,
        cache: PrefixCache,
        *,
        max_batch_tokens: int,
        max_running: int,
        chunk: int | None = None,
        patience: float = 5.0,
        loader: Loader | None = None,
    ) -> None:
        self.cache = cache
        self.counters = Counters()
        self.tally = Tally()
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self._max_batch_tokens = max_batch_tokens
        self._max_running = max_running
        self._chunk = chunk
        self._patience = patience
        self._loader = loader

    def add(self, sequence: Sequence) -> None:
        """Queue a new sequence."""
        self.waiting.append(sequence)

    def plan(self, now: float) -> list[Work]:
        """The next step's work; empty if there is none. Marks its sequences as in the step."""
        if self.waiting:
            # Whatever keeps it waiting: growing streams must not evict what it is about to reuse.
            head = self.waiting[0]
            self.cache.touch(head.chain, head.tokens, limit=self._reuse_limit(head))
        work: list[Work] = []
        budget = self._max_batch_tokens
        preemptions = self.counters.preemptions
        for sequence in sorted(self.running, key=lambda s: (_left(s) > 1, s.arrival)):
            if sequence.lease is None:
                continue  # preempted by an earlier one in this loop
            count = self._count(sequence, budget)
            if count and self._make_room(sequence):
                work.append(self._work(sequence, count))
                budget -= count
        # The latest arrival is the victim, so nothing planned before it is lost; but what was just
        # taken from it must not go to a newcomer.
        if self.counters.preemptions == preemptions:
            self._admit(work, budget, now)
        return work

    def complete(self, work: Work, now: float) -> None:
        """A step has computed `work`: its full blocks become findable."""
        sequence = work.sequence
        sequence.in_step = False
        self._count_prefill(work)
        sequence.computed += work.count
        if sequence.lease is not None:
            ready = sequence.computed
            if self._chunk is not None:
                ready = min(ready, sequence.prompt_tokens) // self._chunk * self._chunk
            # Once, when others can use it: a prompt's end is what an equal prompt begins with.
            at_prompt_end = self._chunk is None and ready == sequence.prompt_tokens
            self.cache.publish(sequence.lease, sequence.tokens, ready, tail=at_prompt_end)
        group = sequence.group
        if work.samples and group.reuse is None and group.cached_tokens is not None:
            group.reuse = Reuse(group.prompt_tokens, group.cached_tokens, group.miss, group.loaded)
            self.tally.add(prompt=group.prompt_tokens, hit=group.cached_tokens, now=now)

    def finish(self, sequence: Sequence, visit: Visit | None = None) -> None:
        """Let a sequence go, however it ended; idempotent. Not while it is in a step.

        `visit`: what is known of it, where it has ended by itself.
        """
        if sequence.lease is not None:
            self._let_go(sequence, sequence.lease, visit)
            self.running.remove(sequence)
        elif sequence in self.waiting:
            self.waiting.remove(sequence)
        if sequence.load is not None:
            sequence.load.take()

    def _work(self, sequence: Sequence, count: int) -> Work:
        sequence.in_step = True
        return Work(sequence, count, samples=count == _left(sequence))

    def _count(self, sequence: Sequence, budget: int) -> int:
        """Tokens to compute next: all that are left, within the budget and the fixed borders."""
        left = _left(sequence)
        if self._chunk is None:
            return min(left, budget)
        if sequence.computed >= sequence.prompt_tokens:
            left = 1
        else:
            left = min(
                sequence.prompt_tokens - sequence.computed,
                self._chunk - sequence.computed % self._chunk,
            )
        return left if budget > 0 else 0

    def _make_room(self, sequence: Sequence) -> bool:
        """Grow the lease to hold all tokens; preempt the latest arrivals for it if need be."""
        while sequence.lease is not None:
            if self.cache.grow(sequence.lease, len(sequence.tokens)):
                return True
            victim = max(self.running, key=lambda s: s.arrival)
            self._preempt(victim)
        return False

    def _preempt(self, sequence: Sequence) -> None:
        assert sequence.lease is not None
        self._let_go(sequence, sequence.lease)
        sequence.reached = max(sequence.reached, sequence.computed)
        sequence.computed = 0
        sequence.looks_again = True
        self.running.remove(sequence)
        self.waiting.insert(sum(s.arrival < sequence.arrival for s in self.waiting), sequence)
        self.counters.preemptions += 1

    def _let_go(self, sequence: Sequence, lease: Lease, visit: Visit | None = None) -> None:
        """Release what a sequence holds; what it has computed by itself stays findable."""
        if self._chunk is None and sequence.computed > lease.cached_tokens:
            self.cache.publish(lease, sequence.tokens, sequence.computed, tail=True)
        if self._loader is not None:
            self._loader.released(sequence)
        self.cache.release(lease, visit)
        sequence.lease = None

    def _admit(self, work: list[Work], budget: int, now: float) -> None:
        for sequence in list(self.waiting):
            if budget <= 0 or len(self.running) >= self._max_running:
                break
            if self._should_wait(sequence, now):
                continue
            if self._loader is not None:
                if sequence.looks_again:
                    if not self._fits(sequence):
                        break
                    sequence.looks_again = False
                    self._loader.begin(sequence, self._reuse_limit(sequence))
                if self._loader.waits(sequence):
                    continue
            lease = self.cache.acquire(
                sequence.chain,
                sequence.tokens,
                room=self.cache.blocks_for(
                    min(sequence.max_tokens - sequence.generated, ROOM_TOKENS)
                ),
                spare=len(self.running),
                limit=self._reuse_limit(sequence),
            )
            if lease is None:
                break
            self.waiting.remove(sequence)
            self.running.append(sequence)
            sequence.lease = lease
            sequence.computed = lease.cached_tokens
            if self._loader is not None:
                self._loader.admitted(sequence)
            sequence.group.admit(sequence, self._miss(sequence, lease))
            count = self._count(sequence, budget)
            if count:
                work.append(self._work(sequence, count))
                budget -= count

    def _miss(self, sequence: Sequence, lease: Lease) -> Miss:
        """Why it reuses no more, after what came from the tiers."""
        if not sequence.loaded:
            return lease.miss
        limit = self._reuse_limit(sequence)
        return self.cache.explain(sequence.chain, sequence.tokens, limit=limit)

    def _fits(self, sequence: Sequence) -> bool:
        """Whether it would be admitted now: looking earlier would find what is still evicted."""
        return self.cache.fits(
            sequence.chain,
            sequence.tokens,
            spare=len(self.running),
            limit=self._reuse_limit(sequence),
        )

    def _should_wait(self, sequence: Sequence, now: float) -> bool:
        match = self.cache.match(sequence.chain, sequence.tokens, limit=self._reuse_limit(sequence))
        if not match.coming:
            sequence.waited_from = None
            return False
        if sequence.waited_from is None or match.cached_tokens > sequence.waited_for:
            sequence.waited_from = now
            sequence.waited_for = match.cached_tokens
        return now - sequence.waited_from < self._patience

    def _reuse_limit(self, sequence: Sequence) -> int | None:
        """With fixed borders, what was generated is reused by nobody who generated it too.

        Another request may have computed it as a part of its prompt, in other chunks.
        """
        return None if self._chunk is None else sequence.prompt_tokens

    def _count_prefill(self, work: Work) -> None:
        begin = work.sequence.computed
        end = begin + work.count
        again = max(0, min(end, work.sequence.reached) - begin)
        prompt = max(0, min(end, work.sequence.prompt_tokens) - begin)
        self.counters.recomputed_tokens += again
        self.counters.prefill_tokens += max(again, prompt)


def _left(sequence: Sequence) -> int:
    return len(sequence.tokens) - sequence.computed
