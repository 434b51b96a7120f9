"""The id of a request, which its answer quotes."""

from collections.abc import Mapping
from uuid import uuid4

from starlette.requests import Request
from starlette.types import Scope


def identify(scope: Scope) -> Mapping[str, str]:
    """Give a request its own id; the headers that quote it."""
    name = scope["headstart.request_id"] = uuid4().hex
    # As OpenAI's client reads it, and as Anthropic's does.
    return {"x-request-id": name, "request-id": f"req_{name}"}


def request_id_of(request: Request) -> str:
    """Unique; the id that the response's headers quote."""
    return str(request.scope["headstart.request_id"])
