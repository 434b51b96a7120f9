"""The event loop's end of a request under way."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from headstart.engine.api import Chunk, EngineStopped, Reuse
from headstart.engine.sequence import Group


class LocalGeneration:
    """Chunks arrive from the engine's thread and are read from one event loop."""

    def __init__(
        self, group: Group, choices: int, cancel: Callable[["LocalGeneration"], None]
    ) -> None:
        self._group = group
        self._unfinished = choices
        self._cancel = cancel
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[Chunk | None] = asyncio.Queue()
        self._tokens = 0
        self._closed = False

    @property
    def reuse(self) -> Reuse:
        """The prompt's account. Before the first chunk nothing is known to be reused."""
        return self._group.reuse or Reuse(self._group.prompt_tokens, 0)

    @property
    def completion_tokens(self) -> int:
        """Tokens of all chunks read so far."""
        return self._tokens

    async def __aiter__(self) -> AsyncIterator[Chunk]:
        try:
            while self._unfinished:
                chunk = await self._chunks.get()
                if chunk is None:
                    return
                self._tokens += chunk.tokens
                self._unfinished -= chunk.finish_reason is not None
                if chunk.finish_reason == "error":
                    raise EngineStopped("The engine failed while it computed this request.")
                yield chunk
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Cancel what still runs; idempotent."""
        if not self._closed:
            self._closed = True
            self._cancel(self)
            self._chunks.put_nowait(None)  # A reader in another task ends too.

    def deliver(self, chunks: list[Chunk]) -> None:
        """Hand over chunks; called from the engine's thread."""
        with suppress(RuntimeError):  # A closed loop has no reader, and it can close at any time.
            self._loop.call_soon_threadsafe(self._put, chunks)

    def _put(self, chunks: list[Chunk]) -> None:
        for chunk in chunks:
            self._chunks.put_nowait(chunk)
