"""The few HTTP settings that all tools here share."""

from urllib.parse import urlsplit

import httpx

from headstart.insight.wire import EndpointError

CONNECT_SECONDS = 10.0
READ_SECONDS = 600.0
"""A long prompt on a slow machine may be silent for minutes before its first token."""


def timeout() -> httpx.Timeout:
    """Quick to notice that nobody listens, patient with a prefill."""
    return httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)


def headers(api_key: str | None) -> dict[str, str]:
    """Request headers. No compression: it would hold tokens back."""
    fixed = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
    return fixed | ({"Authorization": f"Bearer {api_key}"} if api_key else {})


def explain(error: httpx.HTTPError, url: str) -> EndpointError:
    """An httpx failure in the user's words: the cause and the way out."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return EndpointError(
            f"no server answers at {url} ({error or type(error).__name__}). "
            "Start one with `headstart serve`, or name another URL."
        )
    return EndpointError(f"{url} broke the connection ({type(error).__name__}: {error})")


def is_remote(url: str) -> bool:
    """Whether a proxy from the environment may be used: never between us and our own machine."""
    return urlsplit(url).hostname not in ("127.0.0.1", "localhost", "::1")
