"""What the engine takes and gives: plain data, and all that the server knows of the engine."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from headstart.cache import Miss, TreeNode
from headstart.engine.events import KVPicture, KVSource
from headstart.model.params import SamplingParams
from headstart.stores.tier import TierStats

FinishReason = Literal["stop", "length", "abort", "error"]


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client tells of what comes next; eviction uses it, answers don't depend on it."""

    session: str | None = None
    """Requests of one name go on from one another."""
    ended: bool = False
    """Nothing will follow."""
    expected_gap: float | None = None
    """Seconds until the next request of the session."""
    tools: bool = False
    """The answer may end in a tool call."""


NO_HINTS = Hints()


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One prompt to continue `n` times; with `max_tokens` 0 it is computed and nothing else."""

    id: str
    prompt: Sequence[int]
    params: SamplingParams
    n: int = 1
    tenant: str = ""
    salt: str | None = None
    adapter: str | None = None
    """Name of a loaded LoRA adapter; None is the base model."""
    hints: Hints = NO_HINTS


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token's id, exact bytes, and natural log probability before any sampling option."""

    token_id: int
    data: bytes
    logprob: float
    top: tuple["TokenLogprob", ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of choice `index` in whole characters; the last one has the reason."""

    index: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()
    finish_reason: FinishReason | None = None
    tokens: int = 0
    """Tokens this piece stands for, the end-of-sequence token included."""
    stop: str | None = None
    """The stop string that ended the choice."""
    ids: tuple[int, ...] = ()
    """Those tokens."""


@dataclass(frozen=True, slots=True)
class Reuse:
    """The prompt's account: fresh + cached = prompt, fixed when the first token is there."""

    prompt_tokens: int
    cached_tokens: int
    miss: Miss | None = None
    """Why it wasn't more; None before the first chunk."""
    loaded: Mapping[str, int] = field(default_factory=dict)
    """Of `cached_tokens`, those that came from a tier, by its name; the others were in the pool."""

    @property
    def sources(self) -> dict[str, int]:
        """`cached_tokens` by where they were; the pool is RAM too."""
        below = {name: self.loaded.get(name, 0) for name in ("disk", "remote")}
        return {"ram": self.cached_tokens - sum(below.values()), **below}


class Generation(Protocol):
    """A request under way. Iterate it once; `aclose` or leaving the loop cancels it."""

    @property
    def reuse(self) -> Reuse:
        """Valid from the first chunk on."""
        ...

    @property
    def completion_tokens(self) -> int:
        """Tokens generated so far over all choices."""
        ...

    def __aiter__(self) -> AsyncIterator[Chunk]:
        """Chunks of all choices as they come; raises EngineStopped if the engine fails."""
        ...

    async def aclose(self) -> None:
        """Cancel whatever still runs; idempotent. Frees everything the request holds."""
        ...


class EngineError(Exception):
    """A request the engine refuses. `str()` names the cause and the way out."""


class PromptTooLong(EngineError):
    """Prompt plus one token exceeds the context window or the whole KV pool."""

    def __init__(self, message: str, *, prompt_tokens: int, limit: int) -> None:
        super().__init__(message)
        self.prompt_tokens = prompt_tokens
        self.limit = limit


class QueueFull(EngineError):
    """Too many requests wait already. `retry_after` is in whole seconds."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class InvalidRequest(EngineError):
    """What only the engine can judge: a token id out of range, an unknown adapter, a grammar."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class InvalidGrammar(InvalidRequest):
    """The grammar can't be compiled, or is too large."""


class EngineStopped(EngineError):
    """The server is shutting down or the engine has failed."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What would hit now; asking changes nothing."""

    prompt_tokens: int
    cached_tokens: int
    miss: Miss


@dataclass(frozen=True, slots=True)
class Pinned:
    """A prefix that is given up last."""

    id: int
    tokens: int
    priority: int
    ttl: float
    """Seconds without use after which it is an ordinary one."""
    expires_in: float


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The pool and the cache since start. A prompt counts once, however often it was preempted."""

    block_size: int
    reuse_unit: int
    """Hits are cut down to a multiple of it: every token counts at 1, whole chunks in
    deterministic mode."""
    capacity_tokens: int
    used_tokens: int
    """In blocks some running request holds."""
    cached_free_tokens: int
    """Reusable and held by nobody: given up when room is needed."""
    prompt_tokens: int
    hit_tokens: int
    recent_prompt_tokens: int
    """Over the last minute, like `recent_hit_tokens`."""
    recent_hit_tokens: int
    evicted_blocks: int


@dataclass(frozen=True, slots=True)
class Verified:
    """Hits that were computed once more to compare the KV, since start."""

    hits: int = 0
    tokens: int = 0
    wrong: int = 0
    """Hits whose KV is not that of their tokens."""
    worst_error: float = 0.0
    """The greatest relative error of any layer's keys or values."""


@dataclass(frozen=True, slots=True)
class EngineStats:
    """Counters since start and gauges now."""

    cache: CacheStats
    running: int
    waiting: int
    requests_finished: dict[FinishReason, int]
    generated_tokens: int
    prefill_tokens: int
    """Prompt tokens really computed, preempted re-computation included."""
    preemptions: int
    recomputed_tokens: int
    """Of `prefill_tokens`, those computed again after a preemption."""
    kv_bytes: int
    tiers: Sequence[TierStats] = ()
    """From the nearest to the farthest."""
    tier_events: Mapping[str, int] = field(default_factory=dict)
    """Chunks since start by what became of them between the tiers: loaded, late, dropped, ..."""
    loaded_tokens: Mapping[str, int] = field(default_factory=dict)
    """Prompt tokens brought up, by tier."""
    verified: Verified = Verified()
    dropped_event_batches: int = 0
    """Batches of KV events that were never sent since too many waited."""


class Engine(Protocol):
    """The engine as the server sees it: call it from the event loop, it returns at once."""

    @property
    def ready(self) -> bool:
        """True while requests can be served."""
        ...

    @property
    def context_length(self) -> int:
        """Most tokens of prompt and output together."""
        ...

    @property
    def adapters(self) -> Sequence[str]:
        """Names of the loaded LoRA adapters."""
        ...

    def submit(self, request: GenerateRequest) -> Generation:
        """Queue a request. Raises EngineError before anything is queued."""
        ...

    def lookup(
        self, prompt: Sequence[int], *, tenant: str, salt: str | None, adapter: str | None
    ) -> Lookup:
        """What `prompt` would reuse now. Changes nothing. Raises InvalidRequest."""
        ...

    def pin(
        self,
        prompt: Sequence[int],
        *,
        tenant: str,
        salt: str | None,
        adapter: str | None,
        ttl: float,
        priority: int,
    ) -> Pinned | None:
        """Give up what is cached of `prompt` last; None if that is nothing.

        Raises InvalidRequest, also where the tenant's budget is smaller.
        """
        ...

    def pins(self, tenant: str) -> list[Pinned]:
        """What `tenant` has pinned."""
        ...

    def unpin(self, tenant: str, number: int) -> bool:
        """Let a pin of `tenant` go. False if it has none of this number."""
        ...

    def cache_tree(self, tenant: str | None, nodes: int) -> list[TreeNode]:
        """The live prefix tree of a tenant, or of all: its `nodes` largest nodes, parents first."""
        ...

    @property
    def kv_source(self) -> KVSource:
        """What all its KV has in common."""
        ...

    def kv_picture(self) -> KVPicture:
        """What can be found now."""
        ...

    def reset_cache(self) -> None:
        """Forget all KV, at once and also while requests run: they finish, their KV is not kept."""
        ...

    def stats(self) -> EngineStats:
        """Counters and gauges, taken at one moment."""
        ...

    async def aclose(self, drain_seconds: float) -> None:
        """Refuse new work, let running requests end within the time, then abort the rest."""
        ...
