"""Failures the real engine can't be asked for: a scripted one stands in for it."""

import asyncio
import json
import logging
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
import pytest

from headstart.cache import Miss, Reason
from headstart.engine.api import (
    CacheStats,
    Chunk,
    EngineError,
    EngineStats,
    EngineStopped,
    GenerateRequest,
    Lookup,
    QueueFull,
    Reuse,
)
from headstart.text.codec import Codec

HELLO: Any = [{"role": "user", "content": "Hello"}]
CHAT: Any = {"model": "tiny", "messages": HELLO}
NO_CACHE = CacheStats(16, 1, 0, 0, 0, 0, 0, 0, 0, 0)


@dataclass
class ScriptedGeneration:
    """Tells its script; an exception in it is raised there, a number is seconds of silence."""

    script: Sequence[Chunk | Exception | float]
    closed: int = 0
    reuse: Reuse = field(default_factory=lambda: Reuse(10, 0))
    completion_tokens: int = 0

    async def __aiter__(self) -> AsyncIterator[Chunk]:
        for item in self.script:
            if isinstance(item, Exception):
                raise item
            if isinstance(item, float):
                await asyncio.sleep(item)
                continue
            self.completion_tokens += item.tokens
            yield item

    async def aclose(self) -> None:
        self.closed += 1


@dataclass
class ScriptedEngine:
    """An engine whose every answer is one script, or whose every submission fails."""

    script: Sequence[Chunk | Exception | float] = ()
    reuse: Reuse = field(default_factory=lambda: Reuse(10, 0))
    refusal: Exception | None = None
    ready: bool = True
    context_length: int = 1024
    adapters: Sequence[str] = ()
    generations: list[ScriptedGeneration] = field(default_factory=list)

    def submit(self, request: GenerateRequest) -> ScriptedGeneration:
        if self.refusal is not None:
            raise self.refusal
        self.generations.append(ScriptedGeneration(self.script, reuse=self.reuse))
        return self.generations[-1]

    def lookup(
        self, prompt: Sequence[int], *, tenant: str, salt: str | None, adapter: str | None
    ) -> Lookup:
        return Lookup(len(prompt), 0, Miss(Reason.NEVER_SEEN, 0))

    def reset_cache(self) -> None:
        pass

    def stats(self) -> EngineStats:
        return EngineStats(NO_CACHE, 0, 0, {}, 0, 0, 0, 0, 0)

    async def aclose(self, drain_seconds: float) -> None:
        self.ready = False


Start = Callable[..., Any]
FAILURES = [
    (RuntimeError("secret detail"), 500),
    (EngineStopped("The server is shutting down."), 503),
    (Chunk(0, "", finish_reason="error"), 500),
    (Chunk(0, "", finish_reason="abort"), 503),
]


@pytest.mark.parametrize(("failure", "status"), FAILURES)
def test_a_failure_halfway_is_an_error_frame_that_the_sdk_raises(
    start_scripted: Start, eventually: Callable[..., None], failure: Any, status: int
) -> None:
    live = start_scripted(ScriptedEngine([Chunk(0, "Hel", tokens=1), failure]))
    texts = []

    def read() -> None:
        for chunk in live.client().chat.completions.create(**CHAT, stream=True):
            texts.append(chunk.choices[0].delta.content)

    with pytest.raises(openai.APIError) as caught:
        read()
    assert texts == ["", "Hel"]
    assert caught.value.type == "server_error"
    assert "secret" not in caught.value.message
    eventually(lambda: live.engine.generations[0].closed > 0)


@pytest.mark.parametrize(("failure", "status"), FAILURES)
def test_a_stream_that_fails_before_its_first_token_is_a_status_and_no_stream(
    start_scripted: Start, eventually: Callable[..., None], failure: Any, status: int
) -> None:
    """As without a stream: clients retry by the status."""
    live = start_scripted(ScriptedEngine([failure]))
    for path, body in (
        ("/v1/chat/completions", CHAT),
        ("/v1/completions", {"model": "tiny", "prompt": "a"}),
    ):
        response = live.post(path, **body, stream=True)
        assert response.status_code == status
        assert response.headers["content-type"] == "application/json"
        assert "x-headstart-cache" not in response.headers
        assert response.headers["x-request-id"]
        assert response.json()["error"]["type"] == "server_error"
        assert "secret" not in response.text
        assert response.json() == live.post(path, **body).json()
    with pytest.raises(openai.InternalServerError) as caught:
        live.client().chat.completions.create(**CHAT, stream=True)
    assert (caught.value.status_code, caught.value.type) == (status, "server_error")
    counted = f'headstart_requests_total{{endpoint="/v1/completions",status="{status}"}} 2.0'
    assert counted in live.get("/metrics").text
    eventually(lambda: all(each.closed for each in live.engine.generations))


def test_a_forward_pass_that_fails_is_a_status_the_sdk_raises_and_the_next_one_answers(
    start_real: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real engine, whose step fails: before the first token, then behind it."""
    live = start_real()
    client, runner = live.client(), live.engine._runner
    real, passes = runner.run, 0

    def fail(slices: Any) -> Any:
        nonlocal passes
        passes += 1
        if passes == at:
            raise RuntimeError("secret detail")
        return real(slices)

    monkeypatch.setattr(runner, "run", fail)
    at = 1
    with pytest.raises(openai.InternalServerError) as caught:
        client.chat.completions.create(**CHAT, stream=True, max_tokens=8)
    assert caught.value.status_code == 503
    assert "The engine failed while it computed" in caught.value.message
    passes, at = 0, 4
    with client.chat.completions.create(
        **CHAT, stream=True, max_tokens=8, extra_body={"ignore_eos": True}
    ) as stream:
        assert stream.response.status_code == 200
        with pytest.raises(openai.APIError, match="The engine failed while it computed"):
            list(stream)
    passes, at = 0, 0
    assert client.chat.completions.create(**CHAT, max_tokens=2).choices
    live.engine.audit()


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
@pytest.mark.parametrize(
    ("refusal", "status", "kind"),
    [
        (QueueFull("The queue is full.", retry_after=3), 429, "rate_limit_error"),
        (EngineStopped("The server is shutting down."), 503, "server_error"),
        (RuntimeError("secret detail"), 500, "server_error"),
    ],
)
def test_a_stream_that_the_engine_refuses_is_a_status_and_no_stream(
    start_scripted: Start, path: str, refusal: Exception, status: int, kind: str
) -> None:
    live = start_scripted(ScriptedEngine(refusal=refusal))
    body = CHAT if "chat" in path else {"model": "tiny", "prompt": "a"}
    response = live.post(path, **body, stream=True)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    assert response.json()["error"]["type"] == kind
    assert response.headers.get("retry-after") == ("3" if status == 429 else None)
    assert "secret" not in response.text


def test_the_headers_of_a_stream_tell_what_is_known_with_its_first_token(
    start_scripted: Start,
) -> None:
    reuse = Reuse(10, 4, Miss(Reason.DIVERGED, 4))
    live = start_scripted(
        ScriptedEngine([Chunk(0, "a", finish_reason="stop", tokens=1)], reuse=reuse)
    )
    response = live.post("/v1/chat/completions", **CHAT, stream=True)
    assert response.headers["x-headstart-cache"] == "hit=4; reason=diverged"


def test_a_failed_stream_has_no_done(start_scripted: Start) -> None:
    live = start_scripted(ScriptedEngine([Chunk(0, "a", tokens=1), RuntimeError()]))
    with live.http() as http:
        for path, body in (
            ("/v1/chat/completions", CHAT),
            ("/v1/completions", {"model": "tiny", "prompt": "a"}),
        ):
            *_, last = http.post(path, json=body | {"stream": True}).text.strip().split("\n\n")
            assert set(json.loads(last.removeprefix("data: "))) == {"error"}


@pytest.mark.parametrize(("failure", "status"), FAILURES)
def test_the_same_failure_of_a_whole_answer_is_a_status(
    start_scripted: Start, failure: Any, status: int
) -> None:
    live = start_scripted(ScriptedEngine([Chunk(0, "Hel", tokens=1), failure]))
    with live.http() as http:
        response = http.post("/v1/chat/completions", json=CHAT)
    assert response.status_code == status
    assert response.json()["error"]["type"] == "server_error"
    assert "secret" not in response.text
    assert response.headers["x-request-id"]
    assert live.engine.generations[0].closed


def test_what_nobody_foresaw_is_in_the_log(
    start_scripted: Start, caplog: pytest.LogCaptureFixture
) -> None:
    live = start_scripted(ScriptedEngine(refusal=RuntimeError("secret detail")))
    with caplog.at_level(logging.ERROR), live.http() as http:
        assert http.post("/v1/chat/completions", json=CHAT).status_code == 500
        metrics = http.get("/metrics").text
    assert "secret detail" in caplog.text
    counted = 'headstart_requests_total{endpoint="/v1/chat/completions",status="500"} 1.0'
    assert counted in metrics


@pytest.mark.parametrize(
    ("refusal", "status"),
    [(EngineStopped("The server is shutting down."), 503), (EngineError("Broken."), 500)],
)
def test_an_engine_that_refuses_says_why(
    start_scripted: Start, refusal: Exception, status: int
) -> None:
    live = start_scripted(ScriptedEngine(refusal=refusal))
    with pytest.raises(openai.InternalServerError) as caught:
        live.client().chat.completions.create(**CHAT)
    assert caught.value.status_code == status
    assert str(refusal) in caught.value.message


def test_health_is_503_while_the_engine_cannot_serve(start_scripted: Start) -> None:
    live = start_scripted(ScriptedEngine())
    with live.http() as http:
        assert http.get("/health").status_code == 200
        live.engine.ready = False
        assert http.get("/health").status_code == 503


def test_a_conversation_the_template_refuses_is_400(
    start_scripted: Start, tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    model = shutil.copytree(tiny_checkpoint("llama"), tmp_path / "model")
    config = model / "tokenizer_config.json"
    template = {"chat_template": "{{ raise_exception('Roles must alternate.') }}"}
    config.write_text(json.dumps(json.loads(config.read_text()) | template))
    live = start_scripted(ScriptedEngine(), Codec.from_directory(model))
    with pytest.raises(openai.BadRequestError) as caught:
        live.client().chat.completions.create(**CHAT)
    assert caught.value.param == "messages"
    assert "Roles must alternate." in caught.value.message
