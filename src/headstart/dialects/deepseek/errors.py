"""How DeepSeek says no (rule D7): OpenAI's envelope, some statuses of its own."""

from dataclasses import replace

from headstart.dialects.dialect import Failure
from headstart.dialects.errors import ApiError
from headstart.dialects.openai.errors import OpenAIManners

CODE = "invalid_request_error"
"""Of nearly every refusal."""
MALFORMED = frozenset({"missing_required_parameter", "invalid_value"})
"""What its parser refuses is 422; what it understands and can't do is 400."""


class DeepSeekManners(OpenAIManners):
    """OpenAI's, but for these."""

    def failure(self, error: ApiError, request_id: str) -> Failure:
        """The envelope and the status."""
        return super().failure(_told(error), request_id)


def _told(error: ApiError) -> ApiError:
    match error.status, error.code:
        case 400, code if code in MALFORMED:
            message = f"Failed to deserialize the JSON body into the target type: {error.message}"
            return replace(error, status=422, message=message, code=CODE)
        case 400, _:
            return replace(error, code=CODE)
        case 404, "model_not_found":
            message = f"Model Not Exist. {error.message}"
            return replace(error, status=400, message=message, code=CODE)
        case 401, _:
            message = f"Authentication Fails. {error.message}"
            return replace(error, message=message, type="authentication_error", code=CODE)
        case _:
            return error
