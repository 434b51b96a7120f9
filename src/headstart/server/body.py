"""Reading a request's body, but not more of it than the operator allows."""

from starlette.requests import Request

from headstart.dialects.errors import ApiError


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body. Raises ApiError 413 as soon as it is known to be over `limit` bytes."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise _too_large(limit)
    chunks = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        chunks.append(chunk)
    return b"".join(chunks)


def _too_large(limit: int) -> ApiError:
    message = f"The request body is larger than {limit} bytes: send less (or --max-body-bytes)."
    return ApiError(413, message, code="request_too_large")
