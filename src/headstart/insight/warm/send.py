"""Calls over HTTP."""

from collections.abc import Mapping

import httpx
import msgspec

from headstart.insight import http
from headstart.insight.warm.dialects.dialect import Call
from headstart.insight.warm.errors import CallFailed, Gone
from headstart.insight.wire import error_message

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same call may succeed."""
LONGEST_WAIT = 120.0


class Sender:
    """Sends calls to one endpoint."""

    def __init__(self, client: httpx.Client, endpoint: str, headers: Mapping[str, str]) -> None:
        self._client = client
        self._endpoint = endpoint
        self._headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        self._headers |= headers

    def __call__(self, call: Call) -> bytes:
        """The answer's body. Raises CallFailed and Gone."""
        content = None if call.body is None else msgspec.json.encode(call.body)
        try:
            response = self._client.request(
                call.method, self._endpoint + call.path, content=content, headers=self._headers
            )
        except httpx.HTTPError as error:
            told = str(error) or type(error).__name__
            raise CallFailed(f"no answer from {self._endpoint}: {told}", again=True) from error
        if response.is_success:
            return response.content
        told = f"{response.status_code}: {error_message(response.content)}"
        if call.method in ("GET", "PATCH") and response.status_code in (403, 404):
            raise Gone(told)
        again = response.status_code in AGAIN
        raise CallFailed(told, again=again, after=_after(response))


def client(endpoint: str) -> httpx.Client:
    """For one endpoint; to be closed."""
    return httpx.Client(timeout=http.timeout(), trust_env=http.is_remote(endpoint))


def _after(response: httpx.Response) -> float | None:
    """Seconds that the endpoint asks to wait, if it says so in seconds."""
    try:
        asked = float(response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(asked, LONGEST_WAIT) if asked >= 0 else None
