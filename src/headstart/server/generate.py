"""Following generations under way: several as one, with their account and their failures."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from headstart.dialects.errors import server_error
from headstart.engine.api import (
    Chunk,
    Engine,
    GenerateRequest,
    Generation,
    InvalidGrammar,
    InvalidRequest,
)
from headstart.ledger.account import Account
from headstart.server.metrics import Metrics, Timeline
from headstart.server.settlement import Settlement

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Answer:
    """The generations that together answer one HTTP request, one per prompt."""

    generations: Sequence[Generation]
    settlement: Settlement
    choices: int
    """Per generation."""
    metrics: Metrics
    clock: Clock
    arrived: float
    now: Clock
    """The clock of the contracts."""
    ends: frozenset[int]
    """Token ids that end an answer without being part of it."""

    async def chunks(self) -> AsyncGenerator[tuple[int, Chunk]]:
        """(prompt, chunk) pairs as they come. Raises ApiError when a generation fails."""
        async with aclosing(self.beats(0)) as beats:
            async for beat in beats:
                if beat is not None:
                    yield beat

    async def beats(self, quiet: float) -> AsyncGenerator[tuple[int, Chunk] | None]:
        """The same, and None whenever nothing has come for so many seconds, unless these are 0."""
        sources = [self._follow(at, each) for at, each in enumerate(self.generations)]
        pending = {asyncio.ensure_future(anext(source)): i for i, source in enumerate(sources)}
        try:
            while pending:
                done, _ = await asyncio.wait(
                    pending, timeout=quiet or None, return_when=asyncio.FIRST_COMPLETED
                )
                if not done:
                    yield None
                for task in done:
                    index = pending.pop(task)
                    try:
                        chunk = task.result()
                    except StopAsyncIteration:
                        continue
                    pending[asyncio.ensure_future(anext(sources[index]))] = index
                    yield index, chunk
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    async def _follow(self, index: int, generation: Generation) -> AsyncGenerator[Chunk]:
        timeline = Timeline(self.metrics, self.arrived)
        async for chunk in generation:
            if not timeline.begun and generation.reuse.miss is not None:
                self.settlement.open(index, generation.reuse, self.clock() - self.arrived)
            timeline.chunk(self.clock(), chunk.tokens, generation.reuse)
            if chunk.index == 0:
                self.settlement.hear(index, chunk)
            if chunk.finish_reason == "error":
                raise server_error("The model failed while answering; the server's log says why.")
            if chunk.finish_reason == "abort":
                raise server_error("The server stopped before the answer was whole.", 503)
            yield self._without_end(chunk)
        timeline.finished(self.clock(), self.choices)
        self.settlement.finish(index, self.now())

    def _without_end(self, chunk: Chunk) -> Chunk:
        """Logprobs tell of the answer's tokens; the one that ended it is none of them."""
        stopped = chunk.finish_reason == "stop" and chunk.logprobs
        if stopped and chunk.logprobs[-1].token_id in self.ends:
            return replace(chunk, logprobs=chunk.logprobs[:-1])
        return chunk

    async def aclose(self) -> None:
        """Cancel whatever still runs, and write down what was used."""
        for generation in self.generations:
            await generation.aclose()
        self.settlement.close(self._output)

    def account(self) -> Account:
        """The account of the whole answer; complete once the chunks have ended."""
        return self.settlement.account(self._output)

    @property
    def _output(self) -> int:
        return sum(each.completion_tokens for each in self.generations)


async def submit(
    engine: Engine, requests: Sequence[GenerateRequest], *, grammar_field: str | None = None
) -> list[Generation]:
    """Queue all of them or none. Raises EngineError; a bad grammar is blamed on its field."""
    generations: list[Generation] = []
    try:
        for request in requests:
            generations.append(engine.submit(request))
    except BaseException as error:
        for generation in generations:
            await generation.aclose()
        if isinstance(error, InvalidGrammar):
            raise InvalidRequest(str(error), field=grammar_field) from error
        raise
    return generations
