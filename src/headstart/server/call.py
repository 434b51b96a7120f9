"""One HTTP request on its way through an endpoint."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.types import Receive

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

    @property
    def receive(self) -> Receive:
        """Where news of the client's leaving comes from."""
        return self.request.receive

    async def body(self, limit: int) -> bytes:
        """The whole body. Raises ApiError 413 beyond `limit` bytes."""
        return await read_body(self.request, limit)
