"""OpenAI's error envelope."""

from typing import Any

from headstart.dialects.dialect import Failure
from headstart.dialects.errors import ApiError


def envelope(error: ApiError) -> dict[str, Any]:
    """The body that goes with the status, and the frame that ends a failed stream."""
    return {
        "error": {
            "message": error.message,
            "type": error.type,
            "param": error.param,
            "code": error.code,
        }
    }


class OpenAIManners:
    """How OpenAI says no."""

    def failure(self, error: ApiError, _: str) -> Failure:
        """The envelope, and the headers clients act on."""
        headers = {}
        if error.retry_after is not None:
            headers["retry-after"] = str(error.retry_after)
        if error.status == 401:
            headers["www-authenticate"] = "Bearer"
        return Failure(error.status, envelope(error), headers)
