"""Runs requests on a real engine and keeps what came of them: ids, log probabilities, text."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from headstart.engine.api import EngineStats, FinishReason, GenerateRequest, Reuse, TokenLogprob
from headstart.engine.build import build_engine
from headstart.engine.core import LocalEngine
from headstart.model.load import LoadedModel
from headstart.model.params import SamplingParams
from headstart.settings import Settings

DEADLINE = 60.0
"""Seconds after which a request is taken to hang."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One choice, whole."""

    tokens: tuple[TokenLogprob, ...]
    text: str
    reason: FinishReason
    reuse: Reuse

    @property
    def account(self) -> tuple[int, int]:
        """Tokens of the prompt, and how many of them were reused."""
        return self.reuse.prompt_tokens, self.reuse.cached_tokens

    @property
    def ids(self) -> tuple[int, ...]:
        """The generated token ids, the end-of-sequence token included."""
        return tuple(token.token_id for token in self.tokens)

    @property
    def margins(self) -> tuple[float, ...]:
        """Per position, how far the likeliest token lay before the second, in logits."""
        return tuple(token.top[0].logprob - token.top[1].logprob for token in self.tokens)


def request(prompt: Sequence[int], *, max_tokens: int = 8, **fields: Any) -> GenerateRequest:
    """Greedy, with two log probabilities; `fields` are the request's own or its sampling's."""
    own = {"n", "tenant", "salt", "adapter", "id"}
    outer = {name: value for name, value in fields.items() if name in own}
    inner = {name: value for name, value in fields.items() if name not in own}
    params = {"max_tokens": max_tokens, "temperature": 0.0, "logprobs": 2, **inner}
    return GenerateRequest(
        **{"id": "test", **outer}, prompt=prompt, params=SamplingParams(**params)
    )


async def choices(engine: LocalEngine, asked: GenerateRequest) -> list[Outcome]:
    """Every choice of the request. Fails if it takes longer than the deadline."""
    tokens: list[list[TokenLogprob]] = [[] for _ in range(asked.n)]
    texts = [""] * asked.n
    reasons: list[FinishReason | None] = [None] * asked.n
    generation = engine.submit(asked)
    async with asyncio.timeout(DEADLINE):
        async for chunk in generation:
            assert reasons[chunk.index] is None, "a chunk after the last one"
            tokens[chunk.index].extend(chunk.logprobs)
            texts[chunk.index] += chunk.text
            reasons[chunk.index] = chunk.finish_reason
    outcomes = []
    for each, text, reason in zip(tokens, texts, reasons, strict=True):
        assert reason is not None, "the iteration ended before the choice did"
        outcomes.append(Outcome(tuple(each), text, reason, generation.reuse))
    return outcomes


async def answer(engine: LocalEngine, prompt: Sequence[int], **fields: Any) -> Outcome:
    """The only choice of one request, see `request` for the fields."""
    (outcome,) = await choices(engine, request(prompt, **fields))
    return outcome


@asynccontextmanager
async def running(loaded: LoadedModel, **settings: Any) -> AsyncIterator[LocalEngine]:
    """An engine that must be idle, and its books in order, when the test is done with it."""
    engine = build_engine(loaded, Settings(**settings))
    try:
        yield engine
        await until_idle(engine)
        assert_idle(engine)
    finally:
        await engine.aclose(0)


def assert_idle(engine: LocalEngine) -> None:
    """Nobody waits, runs or holds a block, and no block is lost."""
    engine.audit()
    stats = engine.stats()
    assert (stats.running, stats.waiting, stats.cache.used_tokens) == (0, 0, 0)


async def until_idle(engine: LocalEngine) -> None:
    """A request cancelled during a step is let go right after it: wait for that."""
    await _until(engine, lambda stats: not (stats.running or stats.waiting))


async def until_running(engine: LocalEngine) -> None:
    """Wait until a request has been admitted."""
    await _until(engine, lambda stats: stats.running > 0)


async def _until(engine: LocalEngine, holds: Callable[[EngineStats], bool]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not holds(engine.stats()):
            await asyncio.sleep(0.001)
