"""The refusals every dialect shares; each puts them into its own envelope."""

from dataclasses import dataclass


@dataclass(eq=False)
class ApiError(Exception):
    """A request answered with an error. `message` names the cause and the way out."""

    status: int
    """HTTP status."""
    message: str
    type: str = "invalid_request_error"
    """OpenAI's name of its kind; other dialects have theirs by the status."""
    param: str | None = None
    """Path of the field at fault, such as `messages[0].content`."""
    code: str | None = None
    retry_after: int | None = None
    """Whole seconds after which trying again makes sense."""

    def __str__(self) -> str:
        return self.message


def invalid(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    """A request that can never work as it is: 400."""
    return ApiError(400, message, param=param, code=code)


def model_not_found(model: str, known: tuple[str, ...]) -> ApiError:
    """The request names a model that isn't served here."""
    names = ", ".join(f"'{name}'" for name in known)
    message = f"The model '{model}' does not exist. This server has {names}."
    return ApiError(404, message, param="model", code="model_not_found")


@dataclass(eq=False)
class ContextExceeded(ApiError):
    """The prompt, or the prompt and what it asks for, is longer than the window."""

    prompt_tokens: int = 0
    limit: int = 0
    """Tokens of the window."""


def context_length_exceeded(
    message: str, param: str | None, *, prompt_tokens: int, limit: int
) -> ContextExceeded:
    """400, with the numbers for those who word it themselves."""
    code = "context_length_exceeded"
    return ContextExceeded(
        400, message, param=param, code=code, prompt_tokens=prompt_tokens, limit=limit
    )


def rate_limited(message: str, retry_after: int) -> ApiError:
    """The server has as much to do as it takes on."""
    return ApiError(
        429,
        message,
        type="rate_limit_error",
        code="rate_limit_exceeded",
        retry_after=retry_after,
    )


def server_error(message: str, status: int = 500) -> ApiError:
    """The fault is ours: 500, or 503 when there is nobody to answer."""
    return ApiError(status, message, type="server_error", code="server_error")
