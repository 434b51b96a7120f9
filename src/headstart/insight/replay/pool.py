"""One cache, and requests that go through it one after the other. No tensors, the same code."""

from array import array
from dataclasses import dataclass, replace

from headstart.cache import POLICIES, Chain, Namespace, PrefixCache, Visit
from headstart.insight.replay.request import Request

STOPS = frozenset(
    {"tool_use", "end_turn", "tool_calls", "stop", "length", "max_tokens", "abort", "error"}
)
"""Why answers end. A recording may hold other classes there, which no live server would know."""

NOT_A_BLOCK = 2**32 - 1
"""Ends every prompt of blocks, since a cache leaves at least one token to compute."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How a cache is set up; as the options of `headstart serve`."""

    policy: str
    capacity: int
    """Blocks."""
    index: str = "radix"
    ttl: float | None = None
    block_size: int = 1
    """Tokens of a block where token ids are recorded; a recorded block is a token of the cache."""
    reuse_unit: int = 1
    """Tokens that hits are cut down to a multiple of."""
    brought: int | None = None
    """Blocks of all requests together, where that is known: of a larger cache the rest is never
    used, and takes no memory."""
    longest: int | None = None
    """None: as a server runs. What a request needs must fit beside what is cached, and makes room
    for itself. Else the length of the longest request, in blocks: a request is instantaneous, and
    the cache is trimmed to its capacity behind it, so that a request may be longer than it."""


class Pool:
    """Raises KeyError for an unknown policy or index."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.refused = 0
        """Requests that are longer than the pool."""
        self._now = 0.0
        room = 0 if setup.longest is None else setup.longest + 1
        used = setup.capacity if setup.brought is None else min(setup.capacity, setup.brought)
        self._cache = PrefixCache(
            used + room,
            setup.block_size,
            reuse_unit=setup.reuse_unit,
            index=setup.index,
            policy=POLICIES[setup.policy](),
            clock=lambda: self._now,
            ttl=setup.ttl,
        )
        self._space = Namespace(
            weights=b"",
            adapter=None,
            tenant="",
            salt=None,
            dtype="",
            layout="",
            rope="",
            block_size=setup.block_size,
        )

    def would_hit(self, request: Request) -> int:
        """Prompt tokens of it that are cached when it comes."""
        self._now = max(self._now, request.time_s)
        found = self._cache.match(self._chain(request), self._tokens(request))
        return request.prefix_tokens(found.cached_tokens)

    def serve(self, request: Request) -> int:
        """Prompt tokens that it reuses; what it brings is cached from then on."""
        self._now = max(self._now, request.time_s)
        if self.setup.longest is None:
            return self._as_served(request)
        chain, tokens = self._chain(request), self._tokens(request)
        lease = self._cache.acquire(chain, tokens)
        assert lease is not None, "the pool has room for the longest request beside the cached"
        hit = request.prefix_tokens(lease.cached_tokens)
        if request.answer:
            tokens = tokens[: len(request.blocks)] + array("I", request.answer)
            self._cache.grow(lease, len(tokens))
            self._cache.publish(lease, tokens, tail=True)
        else:
            self._cache.publish(lease, tokens, len(request.blocks), tail=True)
        self._cache.take_copies()
        self._cache.release(lease, self._visit(request, hit))
        self._cache.trim(self.setup.capacity)
        return hit

    def _as_served(self, request: Request) -> int:
        """The calls of a scheduler that runs one sequence (engine/scheduler.py)."""
        cache, chain, tokens = self._cache, self._chain(request), self._tokens(request)
        cache.touch(chain, tokens)
        lease = cache.acquire(chain, tokens)
        if lease is None:
            self.refused += 1
            return 0
        cache.take_copies()
        hit = request.prefix_tokens(lease.cached_tokens)
        computed = len(request.blocks)
        cache.publish(lease, tokens, computed, tail=True)
        for token in request.answer:
            tokens.append(token)
            if not cache.grow(lease, len(tokens)):
                break
            computed = len(tokens)
            cache.publish(lease, tokens, computed)
        if computed > lease.cached_tokens:
            cache.publish(lease, tokens, computed, tail=True)
        cache.release(lease, self._visit(request, hit))
        return hit

    def _chain(self, request: Request) -> Chain:
        space = self._space
        return self._cache.chain(replace(space, tenant=request.space) if request.space else space)

    def _tokens(self, request: Request) -> "array[int]":
        tokens = array("I", request.blocks)
        if request.block_tokens > 1:
            tokens.append(NOT_A_BLOCK)
        return tokens

    def _visit(self, request: Request, hit: int) -> Visit:
        return Visit(
            now=self._now,
            prompt_tokens=request.prompt_tokens,
            new_tokens=request.prompt_tokens - hit,
            output_tokens=request.output_tokens,
            session=request.session,
            stop=request.stop if request.stop in STOPS else None,
            ended=request.ended,
            expected_gap=request.expected_gap,
        )
