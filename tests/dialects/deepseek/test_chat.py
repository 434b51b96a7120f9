"""DeepSeek's bodies, accounts and refusals."""

import json
from typing import Any

import pytest

from headstart.dialects.chat import ChatRequest
from headstart.dialects.deepseek.chat import DeepSeekChat
from headstart.dialects.dialect import Envelope, Head
from headstart.dialects.errors import ApiError, model_not_found, rate_limited, server_error
from headstart.dialects.gathered import Gathered
from headstart.ledger.account import Account

DIALECT = DeepSeekChat()
USER = {"role": "user", "content": "hi"}


def parse(**fields: Any) -> ChatRequest:
    body = {"model": "m", "messages": [USER]} | fields
    return DIALECT.parse(json.dumps(body).encode(), Envelope())


def refused(**fields: Any) -> tuple[int, dict[str, Any]]:
    with pytest.raises(ApiError) as caught:
        parse(**fields)
    return told(caught.value)


def told(error: ApiError) -> tuple[int, dict[str, Any]]:
    failure = DIALECT.failure(error, "r")
    return failure.status, failure.body["error"]


def test_unknown_fields_are_ignored_and_thinking_can_only_be_off() -> None:
    assert parse(whatever=1, thinking={"type": "disabled"}) == parse()
    status, error = refused(thinking={"type": "enabled"})
    assert (status, error["param"]) == (400, "thinking")


def test_what_its_parser_refuses_is_422() -> None:
    for fields in ({"messages": 3}, {"messages": None}, {"temperature": "hot"}):
        status, error = refused(**fields)
        assert status == 422
        assert error["message"].startswith("Failed to deserialize the JSON body")
        assert error["code"] == "invalid_request_error"


def test_an_unknown_model_is_400() -> None:
    status, error = told(model_not_found("x", ("m",)))
    assert status == 400
    assert error["message"].startswith("Model Not Exist")


def test_a_bad_key_is_an_authentication_error() -> None:
    status, error = told(ApiError(401, "No.", code="invalid_api_key"))
    assert (status, error["type"]) == (401, "authentication_error")


@pytest.mark.parametrize("error", [rate_limited("x", 3), server_error("x"), server_error("x", 503)])
def test_other_statuses_are_openais(error: ApiError) -> None:
    assert told(error)[0] == error.status


def test_hits_and_misses_are_told_whatever_the_contract() -> None:
    head = Head("chatcmpl-1", 7.9, parse(), contract="engine")
    usage = DIALECT.whole(head, [Gathered(0)], Account(100, 64, 3, {"30m": 36}))["usage"]
    assert usage["prompt_cache_hit_tokens"] + usage["prompt_cache_miss_tokens"] == 100
    assert usage["prompt_tokens_details"]["cached_tokens"] == 64
