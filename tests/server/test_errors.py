"""Every refusal, as the official client and a plain one see it."""

import json
from typing import Any

import httpx
import openai
import pytest

HELLO: Any = [{"role": "user", "content": "Hello"}]
CHAT = {"model": "tiny", "messages": HELLO}


def envelope(response: httpx.Response) -> dict[str, Any]:
    body = response.json()
    assert list(body) == ["error"]
    assert set(body["error"]) == {"message", "type", "param", "code"}
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"]
    error = body["error"]
    assert isinstance(error, dict)
    return error


def test_bad_json_is_400(live: Any) -> None:
    with live.http() as http:
        for path in ("/v1/chat/completions", "/v1/completions", "/tokenize", "/cache/lookup"):
            response = http.post(path, content=b'{"model":')
            assert response.status_code == 400
            assert "JSON" in envelope(response)["message"]


def test_a_wrong_type_is_400_with_the_fields_path(live: Any) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        live.client().chat.completions.create(
            model="tiny", messages=[{"role": "user", "content": 5}]
        )
    assert caught.value.param == "messages[0].content"
    assert caught.value.type == "invalid_request_error"
    assert caught.value.request_id


def test_an_unknown_model_is_404_and_names_the_known_ones(live: Any) -> None:
    client = live.client()
    for call in (
        lambda: client.chat.completions.create(model="gpt-9", messages=HELLO),
        lambda: client.completions.create(model="gpt-9", prompt="a"),
        lambda: client.models.retrieve("gpt-9"),
    ):
        with pytest.raises(openai.NotFoundError) as caught:
            call()
        assert caught.value.code == "model_not_found"
        assert "'tiny'" in caught.value.message


def test_a_prompt_longer_than_the_context_is_refused_before_it_is_queued(live: Any) -> None:
    """POS-09, POS-11: never cut, never queued, both numbers named."""
    before = live.engine.stats().cache.prompt_tokens
    ids = [5] * 2000
    with pytest.raises(openai.BadRequestError) as caught:
        live.client().completions.create(model="tiny", prompt=ids, max_tokens=1)
    assert caught.value.code == "context_length_exceeded"
    assert caught.value.param == "prompt"
    assert "1024" in caught.value.message
    assert "2000" in caught.value.message
    assert live.engine.stats().cache.prompt_tokens == before


def test_a_prompt_and_its_answer_have_to_fit_together(live: Any) -> None:
    """POS-11."""
    client = live.client()
    with pytest.raises(openai.BadRequestError) as caught:
        client.completions.create(model="tiny", prompt=[5] * 1000, max_tokens=25)
    assert caught.value.code == "context_length_exceeded"
    fits = client.completions.create(
        model="tiny", prompt=[5] * 1000, max_tokens=24, extra_body={"ignore_eos": True}
    )
    assert fits.usage is not None
    assert fits.usage.completion_tokens == 24


def test_edge_an_empty_prompt_is_400(live: Any) -> None:
    """EDGE-11."""
    client = live.client()
    for prompt in ("", [], [[]]):
        with pytest.raises(openai.BadRequestError):
            client.completions.create(model="tiny", prompt=prompt)


def test_a_token_id_the_model_has_not_is_400_with_its_place(live: Any) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        live.client().completions.create(model="tiny", prompt=[1, 2, 10**6])
    assert caught.value.param == "prompt[2]"


def test_a_logit_bias_for_such_a_token_is_400(live: Any) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        live.client().chat.completions.create(
            model="tiny", messages=HELLO, logit_bias={"1000000": 1}
        )
    assert caught.value.param == "logit_bias"


def test_a_schema_no_grammar_can_express_is_400(live: Any) -> None:
    schema: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "no"}}}
    with pytest.raises(openai.BadRequestError) as caught:
        live.client().chat.completions.create(model="tiny", messages=HELLO, response_format=schema)
    assert caught.value.param == "response_format"


def test_unknown_paths_and_methods_stay_in_the_envelope(live: Any) -> None:
    with live.http() as http:
        unknown = http.get("/v1/chatter")
        wrong = http.get("/v1/completions")
        assert (unknown.status_code, envelope(unknown)["code"]) == (404, "unknown_url")
        assert (wrong.status_code, envelope(wrong)["code"]) == (405, "method_not_allowed")
        assert wrong.headers["allow"] == "POST"


def test_a_body_over_the_limit_is_413_declared_or_not(start_real: Any) -> None:
    small = start_real(max_body_bytes=1000)
    body = json.dumps({**CHAT, "user": "x" * 100_000}).encode()

    def unannounced() -> Any:
        yield body

    with small.http() as http:
        for content in (body, unannounced()):
            response = http.post("/v1/chat/completions", content=content)
            assert response.status_code == 413
            assert "1000 bytes" in envelope(response)["message"]
        assert http.post("/v1/chat/completions", json=CHAT | {"max_tokens": 1}).status_code == 200


def test_a_full_queue_is_429_with_retry_after(start_real: Any) -> None:
    """The queue takes nobody: real engine, no luck needed."""
    full = start_real(max_waiting=0)
    with pytest.raises(openai.RateLimitError) as caught:
        full.client().chat.completions.create(**CHAT)
    assert caught.value.code == "rate_limit_exceeded"
    assert int(caught.value.response.headers["retry-after"]) >= 1


def test_of_several_prompts_all_are_queued_or_none(start_real: Any, eventually: Any) -> None:
    live = start_real(max_waiting=2)
    with pytest.raises(openai.RateLimitError):
        live.client().completions.create(
            model="tiny", prompt=["a"] * 128, max_tokens=500, extra_body={"ignore_eos": True}
        )
    eventually(lambda: live.engine.stats().waiting + live.engine.stats().running == 0)
