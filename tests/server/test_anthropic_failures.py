"""Failures as Anthropic's client sees them: a scripted engine stands in for the real one."""

from collections.abc import Callable
from typing import Any

import anthropic
import pytest
from tests.server.test_failures import FAILURES, ScriptedEngine

from headstart.engine.api import Chunk, EngineStopped

ASK: Any = {"model": "tiny", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}


@pytest.mark.parametrize(("failure", "status"), FAILURES)
def test_a_failure_halfway_is_an_error_event_that_the_sdk_raises(
    start_scripted: Any, failure: Any, status: int
) -> None:
    live = start_scripted(ScriptedEngine([Chunk(0, "Hel", tokens=1), failure]))
    told = []

    def read() -> None:
        with live.anthropic().messages.stream(**ASK) as stream:
            for text in stream.text_stream:
                told.append(text)

    with pytest.raises(anthropic.APIStatusError) as caught:
        read()
    assert told == ["Hel"]
    error = caught.value
    assert error.status_code == 200
    assert error.type == ("overloaded_error" if status == 503 else "api_error")
    assert error.body["request_id"] == error.request_id
    assert "secret" not in error.message


@pytest.mark.parametrize(("failure", "status"), FAILURES)
def test_a_whole_message_that_fails_has_anthropics_status(
    start_scripted: Any, failure: Any, status: int
) -> None:
    live = start_scripted(ScriptedEngine([failure]))
    with pytest.raises(anthropic.InternalServerError) as caught:
        live.anthropic().messages.create(**ASK)
    overloaded = status == 503
    assert caught.value.status_code == (529 if overloaded else 500)
    assert isinstance(caught.value, anthropic.OverloadedError) is overloaded
    assert ("retry-after" in caught.value.response.headers) is overloaded


def test_an_overloaded_server_is_asked_again(
    start_scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = start_scripted(ScriptedEngine(refusal=EngineStopped("Shutting down.")))
    waits: list[float] = []
    monkeypatch.setattr("anthropic._base_client.time.sleep", waits.append)
    client = anthropic.Anthropic(base_url=live.url, api_key="k", max_retries=1)
    with pytest.raises(anthropic.OverloadedError):
        client.messages.create(**ASK)
    assert waits == [1.0]


def test_a_failure_before_the_first_token_is_one_error_event(
    start_scripted: Any, eventually: Callable[..., None]
) -> None:
    live = start_scripted(ScriptedEngine([RuntimeError("secret")]))
    with pytest.raises(anthropic.APIStatusError) as caught:
        list(live.anthropic().messages.create(**ASK, stream=True))
    assert caught.value.type == "api_error"
    eventually(lambda: all(each.closed for each in live.engine.generations))
