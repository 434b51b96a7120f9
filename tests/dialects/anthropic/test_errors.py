"""Anthropic's envelope: its kinds by status, and the headers clients act on."""

import pytest

from headstart.dialects.anthropic.errors import AnthropicManners
from headstart.dialects.dialect import Failure
from headstart.dialects.errors import (
    ApiError,
    context_length_exceeded,
    invalid,
    rate_limited,
    server_error,
)


def failure(error: ApiError) -> Failure:
    return AnthropicManners().failure(error, "0f")


def test_the_envelope_quotes_the_request() -> None:
    assert failure(invalid("x: Field required", "x")) == Failure(
        400,
        {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "x: Field required"},
            "request_id": "req_0f",
        },
        {},
    )


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "authentication_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (405, "invalid_request_error"),
        (409, "conflict_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (504, "timeout_error"),
    ],
)
def test_every_status_has_its_kind(status: int, kind: str) -> None:
    told = failure(ApiError(status, "x"))
    assert (told.status, told.body["error"]["type"]) == (status, kind)


def test_a_server_that_takes_nothing_more_is_overloaded_and_says_when_to_return() -> None:
    told = failure(server_error("Shutting down.", 503))
    assert (told.status, told.body["error"]["type"]) == (529, "overloaded_error")
    assert told.headers == {"retry-after": "1"}
    assert failure(rate_limited("Later.", 7)).headers == {"retry-after": "7"}


def test_a_prompt_that_is_too_long_is_told_of_in_the_words_clients_look_for() -> None:
    error = context_length_exceeded("ours", "messages", prompt_tokens=12, limit=10)
    assert failure(error).body["error"]["message"] == "prompt is too long: 12 tokens > 10 maximum"
