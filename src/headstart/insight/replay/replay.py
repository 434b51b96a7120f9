"""Runs a stream of requests through the cache itself: a block of the recording is a token here.

A request is instantaneous: its prefix is matched, the rest published, then the cache is trimmed to
its capacity. So a request may be longer than the cache, and what it brought may go at once.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from headstart.cache import POLICIES, Namespace, PrefixCache, Visit
from headstart.insight.replay.traces import Request

STOPS = frozenset({"tool_use", "end_turn", "tool_calls", "stop", "length", "max_tokens"})
"""Why answers end. A recording may hold other classes there, which no live server would know."""

NOT_A_BLOCK = 2**32 - 1
"""Ends every prompt, since a cache leaves at least one token to compute."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a policy made of a stream with room for `capacity` blocks."""

    policy: str
    capacity: int
    prompt_tokens: int
    hit_tokens: int

    @property
    def hit_rate(self) -> float:
        """Of tokens, 0..1."""
        return self.hit_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


def replay(
    requests: Sequence[Request], *, policy: str, capacity: int, index: str = "radix"
) -> Outcome:
    """What `policy`, by its name, reuses with room for `capacity` blocks."""
    now = 0.0
    longest = max((len(request.blocks) for request in requests), default=0)
    cache = PrefixCache(
        capacity + longest + 1,
        1,
        index=index,
        policy=POLICIES[policy](),
        clock=lambda: now,
    )
    prompt_tokens = hit_tokens = 0
    for request in requests:
        now = request.time_s
        count = len(request.blocks)
        tokens = array("I", request.blocks)
        tokens.append(NOT_A_BLOCK)
        lease = cache.acquire(cache.chain(_SPACE), tokens)
        assert lease is not None, "the pool has room for the longest request beside the cached"
        hit = request.prefix_tokens(lease.cached_tokens)
        prompt_tokens += request.prompt_tokens
        hit_tokens += hit
        cache.publish(lease, tokens, count)
        cache.take_copies()
        cache.release(
            lease,
            Visit(
                now=now,
                prompt_tokens=request.prompt_tokens,
                new_tokens=request.prompt_tokens - hit,
                output_tokens=request.output_tokens,
                session=request.session,
                stop=request.stop if request.stop in STOPS else None,
            ),
        )
        cache.trim(capacity)
    return Outcome(policy, capacity, prompt_tokens, hit_tokens)


_SPACE = Namespace(
    weights=b"",
    adapter=None,
    tenant="",
    salt=None,
    dtype="",
    layout="",
    rope="",
    block_size=1,
)
