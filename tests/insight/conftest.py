"""A small real counterpart: an OpenAI-like server on a real socket with a tiny prefix cache.

What it reports is scripted by its `Script`, what it has seen is in its `requests`.
"""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

BLOCK = 16


@dataclass
class Script:
    """How the counterpart behaves."""

    accepts_ids: bool = True
    accepts_ignore_eos: bool = True
    accepts_parts: bool = True
    """Content of messages as a list of parts."""
    obeys_logit_bias: bool = True
    caches: bool = True
    reports_cached: bool = True
    reports_usage: bool = True
    miscounts: int = 0
    """Added to prompt_tokens."""
    lies: int = 0
    """Added to cached_tokens."""
    context: int = 8192
    prefill_seconds: float = 0.0
    """Per prompt token not cached."""
    decode_seconds: float = 0.0
    """Per generated token but the first."""
    endless: bool = False
    """Generate until the client goes away."""
    breaks_off: int | None = None
    """Answers that are whole; later ones end behind their first token, as if that was all."""


@dataclass
class Counterpart:
    """The running server, from outside."""

    script: Script
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    disconnected: threading.Event = field(default_factory=threading.Event)
    seen: list[list[Any]] = field(default_factory=list)
    running: int = 0
    most_running: int = 0

    def look_up(self, tokens: list[Any]) -> int:
        """Whole blocks shared with anything seen, at least one token left to compute."""
        best = 0
        for other in self.seen:
            same = 0
            for one, two in zip(tokens[:-1], other, strict=False):
                if one != two:
                    break
                same += 1
            best = max(best, same)
        return best - best % BLOCK if self.script.caches else 0


def _refusal(message: str, status: int = 400) -> Response:
    envelope = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return JSONResponse({"error": envelope}, status)


def _app(counterpart: Counterpart) -> Starlette:
    script = counterpart.script

    async def models(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "tiny", "object": "model"}]})

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def complete(request: Request) -> Response:
        body = json.loads(await request.body())
        counterpart.requests.append(body)
        chat = "messages" in body
        prompt = body.get("prompt")
        if isinstance(prompt, list) and not script.accepts_ids:
            return _refusal("prompt: expected a string")
        if "ignore_eos" in body and not script.accepts_ignore_eos:
            return _refusal("unknown field: ignore_eos")
        if chat:
            if not script.accepts_parts and any(
                isinstance(m["content"], list) for m in body["messages"]
            ):
                return _refusal("messages: content has to be a string")
            tokens: list[Any] = [
                w for m in body["messages"] for w in (m["role"], *_text(m["content"]).split())
            ]
        else:
            tokens = prompt if isinstance(prompt, list) else prompt.split()
        if len(tokens) + body["max_tokens"] > script.context:
            return _refusal(f"prompt of {len(tokens)} tokens exceeds the context")
        return StreamingResponse(_stream(body, chat, tokens), media_type="text/event-stream")

    async def _stream(body: dict[str, Any], chat: bool, tokens: list[Any]) -> AsyncIterator[bytes]:
        counterpart.running += 1
        counterpart.most_running = max(counterpart.most_running, counterpart.running)
        try:
            cached = counterpart.look_up(tokens)
            counterpart.seen.append(list(tokens))
            await asyncio.sleep(script.prefill_seconds * (len(tokens) - cached))
            forced = next(iter(body.get("logit_bias") or {}), None)
            if chat:
                yield _event({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
            count = 10**9 if script.endless else body["max_tokens"]
            answer = []
            for index in range(count):
                if index:
                    await asyncio.sleep(script.decode_seconds)
                piece = forced if forced and script.obeys_logit_bias else f"w{index}"
                answer.append(int(piece) if forced and script.obeys_logit_bias else piece)
                text = f" {piece}"
                last = "length" if index == count - 1 else None
                choice = {"delta": {"content": text}} if chat else {"text": text}
                yield _event({"choices": [choice | {"finish_reason": last}]})
                if script.breaks_off is not None and len(counterpart.requests) > script.breaks_off:
                    return
            # KV of the last generated token is never computed.
            counterpart.seen.append([*tokens, *answer[:-1]])
            if script.reports_usage:
                yield _event({"choices": [], "usage": _usage(body, tokens, cached)})
            yield b"data: [DONE]\n\n"
        except (asyncio.CancelledError, GeneratorExit):
            counterpart.disconnected.set()
            raise
        finally:
            counterpart.running -= 1

    def _usage(body: dict[str, Any], tokens: list[Any], cached: int) -> dict[str, Any]:
        usage: dict[str, Any] = {
            "prompt_tokens": len(tokens) + script.miscounts,
            "completion_tokens": body["max_tokens"],
        }
        if script.reports_cached:
            usage["prompt_tokens_details"] = {"cached_tokens": cached + script.lies}
        return usage

    return Starlette(
        routes=[
            Route("/v1/models", models),
            Route("/health", health),
            Route("/v1/completions", complete, methods=["POST"]),
            Route("/v1/chat/completions", complete, methods=["POST"]),
        ]
    )


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


@contextmanager
def running(script: Script) -> Iterator[Counterpart]:
    counterpart = Counterpart(script)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()  # Who comes before the server waits for it.
    counterpart.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    config = uvicorn.Config(_app(counterpart), log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield counterpart
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


@pytest.fixture
def serve() -> Iterator[Any]:
    """Start counterparts: `serve(caches=False, …)`; all stop when the test ends."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda **behaviour: stack.enter_context(running(Script(**behaviour)))


@pytest.fixture
def closed_url() -> str:
    """An address where nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
