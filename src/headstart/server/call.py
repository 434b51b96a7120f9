"""One HTTP request on its way through an endpoint."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.types import Receive

from headstart.dialects.dialect import Envelope
from headstart.server.auth import Caller
from headstart.server.body import read_body


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose caller is known."""

    request: Request
    caller: Caller
    id: str
    """Unique; ids of responses are made from it."""
    arrived: float
    """In seconds on `clock`."""
    clock: Callable[[], float]
    began: float
    """The same moment in seconds since the epoch, on the clock of the contracts."""

    @property
    def receive(self) -> Receive:
        """Where news of the client's leaving comes from."""
        return self.request.receive

    @property
    def envelope(self) -> Envelope:
        """What it says outside its body."""
        return Envelope(self.request.headers, self.request.path_params)

    async def body(self, limit: int) -> bytes:
        """The whole body. Raises ApiError 413 beyond `limit` bytes."""
        return await read_body(self.request, limit)
