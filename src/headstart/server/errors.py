"""Every failure leaves in the envelope of the dialect that was spoken."""

import logging

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from headstart.contracts.contract import Refusal
from headstart.dialects.dialect import Manners
from headstart.dialects.errors import (
    ApiError,
    context_length_exceeded,
    invalid,
    rate_limited,
    server_error,
)
from headstart.dialects.openai.errors import OpenAIManners
from headstart.engine.api import (
    EngineError,
    EngineStopped,
    InvalidRequest,
    PromptTooLong,
    QueueFull,
)
from headstart.server.disconnect import ClientGone
from headstart.server.manners import manners_of
from headstart.server.request_id import request_id_of
from headstart.server.responses import json_response
from headstart.text.errors import TemplateError, TextError

log = logging.getLogger(__name__)

CLIENT_GONE = 499
"""Nobody reads this status; it keeps cancelled requests apart in the metrics."""


GONE = (ClientGone, ClientDisconnect)
FORESEEN = (ApiError, EngineError, TextError, Refusal)
OPENAI = OpenAIManners()


def to_api_error(error: Exception) -> ApiError:
    """What the client is told of a failure."""
    match error:
        case ApiError():
            return error
        case Refusal():
            return ApiError(error.status, str(error), param=error.path, code=error.code)
        case TemplateError():
            return invalid(str(error), "messages")
        case TextError():
            return invalid(str(error))
        case PromptTooLong():
            return context_length_exceeded(
                str(error), None, prompt_tokens=error.prompt_tokens, limit=error.limit
            )
        case QueueFull():
            return rate_limited(str(error), error.retry_after)
        case InvalidRequest():
            return invalid(str(error), error.field)
        case EngineStopped():
            return server_error(str(error), 503)
        case EngineError():
            return server_error(str(error))
        case _:
            return server_error("The server failed to answer this request; its log says why.")


def error_response(error: ApiError, manners: Manners = OPENAI, request_id: str = "") -> Response:
    """The response that carries `error`."""
    failure = manners.failure(error, request_id)
    return json_response(failure.body, status=failure.status, headers=failure.headers)


def answer_error(error: Exception, manners: Manners, request_id: str) -> Response:
    """The response to a failed request; failures nobody foresaw also go to the log."""
    if isinstance(error, GONE):
        return Response(status_code=CLIENT_GONE)
    if not isinstance(error, FORESEEN):
        log.error("A request failed.", exc_info=error)
    return error_response(to_api_error(error), manners, request_id)


async def on_http_exception(request: Request, error: Exception) -> Response:
    """Paths and methods that don't exist."""
    assert isinstance(error, HTTPException)
    messages = {
        404: f"Unknown request URL: {request.method} {request.url.path}.",
        405: f"Not allowed to {request.method} on {request.url.path}.",
    }
    codes = {404: "unknown_url", 405: "method_not_allowed"}
    message = messages.get(error.status_code, error.detail)
    told = ApiError(error.status_code, message, code=codes.get(error.status_code))
    response = error_response(told, manners_of(request), request_id_of(request))
    response.headers.update(error.headers or {})
    return response
