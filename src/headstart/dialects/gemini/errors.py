"""Google's error envelope."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

from headstart.dialects.dialect import Failure
from headstart.dialects.errors import ApiError, ContextExceeded

TYPES = "type.googleapis.com/google.rpc"
STATUSES: Mapping[int, str] = MappingProxyType(
    {
        400: "INVALID_ARGUMENT",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        405: "UNIMPLEMENTED",
        409: "ABORTED",
        429: "RESOURCE_EXHAUSTED",
        500: "INTERNAL",
        503: "UNAVAILABLE",
    }
)
"""google/rpc/code.proto, by HTTP status; 405 is ours."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing wrong with a body."""

    description: str
    field: str
    """Its path, empty for the body itself."""


@dataclass(eq=False)
class BadRequest(ApiError):
    """A body that breaks the protocol; all that is wrong with it is told at once."""

    violations: tuple[Violation, ...] = ()

    @classmethod
    def of(cls, violations: Sequence[Violation]) -> Self:
        """One error of them all."""
        message = "\n".join(each.description for each in violations)
        return cls(400, message, violations=tuple(violations))


class GeminiManners:
    """How Gemini says no."""

    def failure(self, error: ApiError, _: str) -> Failure:
        """The envelope. Keys and sizes that are wrong are 400 there, as any bad argument."""
        status = 400 if error.status in (401, 413) else error.status
        headers = {}
        if error.retry_after is not None:
            headers["retry-after"] = str(error.retry_after)
        told: dict[str, Any] = {
            "code": status,
            "message": _message(error),
            "status": STATUSES.get(status, "UNKNOWN"),
        }
        details = _details(error)
        if details:
            told["details"] = details
        return Failure(status, {"error": told}, headers)


INVALID_KEY = "API key not valid. Please pass a valid API key."


def _message(error: ApiError) -> str:
    if error.status == 401:
        return INVALID_KEY
    if isinstance(error, ContextExceeded):
        most = error.limit - 1  # One token of an answer has to fit.
        return (
            f"The input token count ({error.prompt_tokens}) exceeds the maximum number of tokens "
            f"allowed ({most})."
        )
    return error.message


def _details(error: ApiError) -> list[dict[str, Any]]:
    if isinstance(error, BadRequest) and error.violations:
        violations = [
            {"field": each.field, "description": each.description}
            if each.field
            else {"description": each.description}
            for each in error.violations
        ]
        return [{"@type": f"{TYPES}.BadRequest", "fieldViolations": violations}]
    if error.status == 401:
        info = {"reason": "API_KEY_INVALID", "domain": "googleapis.com"}
        return [{"@type": f"{TYPES}.ErrorInfo", **info}]
    if error.retry_after is not None:
        return [{"@type": f"{TYPES}.RetryInfo", "retryDelay": f"{error.retry_after}s"}]
    return []
