"""Anthropic's error envelope."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from headstart.dialects.anthropic.ids import request_id
from headstart.dialects.anthropic.threads import ThreadRefused
from headstart.dialects.dialect import Failure
from headstart.dialects.errors import ApiError, ContextExceeded

OVERLOADED = 529
TYPES: Mapping[int, str] = MappingProxyType(
    {
        401: "authentication_error",
        402: "billing_error",
        403: "permission_error",
        404: "not_found_error",
        409: "conflict_error",
        413: "request_too_large",
        429: "rate_limit_error",
        500: "api_error",
        504: "timeout_error",
        OVERLOADED: "overloaded_error",
    }
)
"""By status; all others are `invalid_request_error`."""


def status_of(error: ApiError) -> int:
    """Anthropic has a status of its own for a server that can't take more on."""
    return OVERLOADED if error.status == 503 else error.status


def envelope(error: ApiError, request: str | None) -> dict[str, Any]:
    """The body that goes with the status, and the data of `event: error`."""
    kind = TYPES.get(status_of(error), "invalid_request_error")
    told: dict[str, Any] = {"type": kind, "message": _message(error)}
    if isinstance(error, ThreadRefused):
        told["details"] = {"error_code": error.error_code}
    return {"type": "error", "error": told, "request_id": request}


class AnthropicManners:
    """How Anthropic says no."""

    def failure(self, error: ApiError, unique: str) -> Failure:
        """The envelope, and the headers clients act on."""
        status = status_of(error)
        headers = {}
        if error.retry_after is not None or status == OVERLOADED:
            headers["retry-after"] = str(error.retry_after or 1)
        request = request_id(unique) if unique else None
        return Failure(status, envelope(error, request), headers)


def _message(error: ApiError) -> str:
    if isinstance(error, ContextExceeded) and error.prompt_tokens >= error.limit:
        return f"prompt is too long: {error.prompt_tokens} tokens > {error.limit} maximum"
    return error.message
