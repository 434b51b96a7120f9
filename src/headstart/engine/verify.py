"""Proves a sample of hits: what was reused is computed once more, and the KV is compared.

It is done when the request has ended and holds up everybody for as long as computing the hit takes:
for tests and for doubts, not for every day.
"""

import logging
from dataclasses import dataclass, replace

from headstart.cache import Lease, PrefixCache
from headstart.engine.api import Verified
from headstart.engine.sequence import Sequence
from headstart.model.lora import Adapter
from headstart.model.runner import Runner, Slice

log = logging.getLogger("headstart.verify")

TOLERANCE = 0.1
"""Relative error of a layer's KV. Other batch shapes round otherwise (bf16: a few percent at most);
KV of another token, position or model has an error around 1. None in deterministic mode."""


@dataclass(frozen=True, slots=True)
class _Hit:
    sequence: Sequence
    reused: int
    held: Lease
    """What was reused."""
    fresh: Lease
    """Where it is computed again; never published."""
    adapter: Adapter | None


class Verifier:
    """`share`: of hits, 0 to 1. `step`: tokens computed at a time."""

    def __init__(
        self, share: float, cache: PrefixCache, runner: Runner, *, step: int, exact: bool
    ) -> None:
        self.counts = Verified()
        self._share = share
        self._cache = cache
        self._runner = runner
        self._step = step
        self._tolerance = 0.0 if exact else TOLERANCE
        self._due = 0.0
        self._hit: _Hit | None = None

    def ended(self, sequence: Sequence, reused: int, adapter: Adapter | None) -> None:
        """A request was just let go; perhaps its hit is to be proved. Under the engine's lock."""
        if not reused:
            return
        self._due += self._share
        if self._due < 1 or self._hit is not None:
            return
        self._due -= 1
        space, shared = sequence.chain.namespace, sequence.chain.shared
        # One token more, so that all of them are reused.
        held = self._cache.acquire(self._cache.chain(space, shared), sequence.tokens[: reused + 1])
        if held is None:
            return
        fresh = None
        if held.cached_tokens >= reused:
            tokens = sequence.tokens[:reused]
            fresh = self._cache.acquire(self._cache.chain(space), tokens, limit=0)
        if fresh is None:
            self._cache.release(held)
            return
        self._runner.pool.copy_all(self._cache.take_copies())
        self._hit = _Hit(sequence, reused, held, fresh, adapter)

    @property
    def waiting(self) -> bool:
        """Whether there is a hit to prove."""
        return self._hit is not None

    def run(self) -> None:
        """Compute it and compare. Not under the lock."""
        hit = self._hit
        assert hit is not None
        for begin in range(0, hit.reused, self._step):
            part = hit.sequence.tokens[begin : min(begin + self._step, hit.reused)]
            blocks = hit.fresh.blocks
            self._runner.run([Slice(part, begin, blocks, wants_logits=False, adapter=hit.adapter)])
        error = self._runner.pool.relative_error(hit.held.blocks, hit.fresh.blocks, hit.reused)
        wrong = not error <= self._tolerance
        counts = self.counts
        self.counts = replace(
            counts,
            hits=counts.hits + 1,
            tokens=counts.tokens + hit.reused,
            wrong=counts.wrong + wrong,
            worst_error=max(counts.worst_error, error),
        )
        if wrong:
            log.error("a hit of %d tokens has wrong KV: relative error %.3f", hit.reused, error)

    def end(self) -> None:
        """Let go of what it held. Under the lock."""
        hit, self._hit = self._hit, None
        if hit is not None:
            self._cache.release(hit.held)
            self._cache.release(hit.fresh)
