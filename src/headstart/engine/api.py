"""What the engine takes and gives: plain data, and all that the server knows of the engine."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from headstart.model.params import SamplingParams

FinishReason = Literal["stop", "length", "abort", "error"]


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One prompt to continue `n` times."""

    id: str
    prompt: Sequence[int]
    params: SamplingParams
    n: int = 1
    tenant: str = ""
    salt: str | None = None
    adapter: str | None = None
    """Name of a loaded LoRA adapter; None is the base model."""


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


@dataclass(frozen=True, slots=True)
class Reuse:
    """The prompt's account: fresh + cached = prompt, fixed when the first token is there."""

    prompt_tokens: int
    cached_tokens: int


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


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The pool and the cache since start. A prompt counts once, however often it was preempted."""

    block_size: int
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

    def reset_cache(self) -> None:
        """Forget all KV, at once and also while requests run: they finish, their KV is not kept."""
        ...

    def stats(self) -> EngineStats:
        """Counters and gauges, taken at one moment."""
        ...

    async def aclose(self, drain_seconds: float) -> None:
        """Refuse new work, let running requests end within the time, then abort the rest."""
        ...
