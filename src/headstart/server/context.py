"""What every endpoint works with."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from headstart.dialects.errors import model_not_found
from headstart.dialects.sampling import Sampling
from headstart.engine.api import Engine
from headstart.server.auth import Keyring
from headstart.server.books import Books
from headstart.server.call import Call
from headstart.server.compared import Compared
from headstart.server.contents import Contents
from headstart.server.kept import AllKept
from headstart.server.logged import Sent, Told
from headstart.server.metrics import Metrics
from headstart.server.reports import Reports
from headstart.server.terms import AllTerms
from headstart.settings import Settings
from headstart.text.codec import Codec

P = ParamSpec("P")
T = TypeVar("T")

INLINE_BYTES = 16 * 1024
"""Bodies up to this size are parsed, rendered and tokenised in well under a decode step."""


@dataclass(frozen=True, slots=True)
class Context:
    """One running server."""

    engine: Engine
    codec: Codec
    settings: Settings
    keyring: Keyring
    metrics: Metrics
    reports: Reports
    kept: AllKept
    """Responses that others go on from."""
    model: str
    """The base model's name, as clients ask for it."""
    vocab_size: int
    """Ids from here on are no tokens."""
    created: int
    """Start of the server, in seconds since the epoch."""
    terms: AllTerms
    books: Books
    compared: Compared
    contents: Contents
    """What clients of Gemini's dialect have stored."""
    now: Callable[[], float]
    """Seconds since the epoch: the clock of the contracts."""

    @property
    def models(self) -> tuple[str, ...]:
        """Every name a client can ask for."""
        return (self.model, *self.engine.adapters, *self.terms.aliases)

    def ends(self, sampling: Sampling) -> frozenset[int]:
        """Token ids that end an answer to such a request."""
        return frozenset((*self.codec.eos_ids, *sampling.stop_token_ids))

    def adapter(self, model: str | None) -> str | None:
        """The adapter that `model` names; None for the base model. Raises ApiError 404."""
        if model is None or model == self.model or model in self.terms.aliases:
            return None
        if model not in self.engine.adapters:
            raise model_not_found(model, self.models)
        return model

    def sent(self, call: Call, body: bytes, told: Told) -> Sent | None:
        """A request as it came, where requests are logged."""
        if self.books.log is None:
            return None
        return Sent(call.request.url.path, body, told, self.codec.shows_call)


async def offload(body: bytes, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` here when `body` is small, in a thread when it would hold up the streams."""
    if len(body) <= INLINE_BYTES:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
