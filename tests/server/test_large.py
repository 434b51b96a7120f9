"""Requests of 20 MB and of 10,000 blocks, in every dialect: answered or refused, soon."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.conftest import Live, StartServer

from headstart.contracts.entries import Entries
from headstart.dialects.anthropic.chat import AnthropicMessages
from headstart.dialects.chat import ChatRequest
from headstart.dialects.deepseek.chat import DeepSeekChat
from headstart.dialects.dialect import Envelope
from headstart.dialects.gemini.generate import GeminiGenerate
from headstart.dialects.gemini.request import Found
from headstart.dialects.openai.chat_request import parse_chat
from headstart.dialects.openai.responses.request import parse_create
from headstart.ledger import Rules
from headstart.server.kept import Kept
from headstart.server.prepare import to_prompt
from headstart.server.terms import AllTerms
from headstart.text.codec import Codec

SECONDS = 10.0
"""Some twenty times what the slowest takes; to count the tokens of 20 MB takes twice as long."""
GPT, CLAUDE, FLASH, DEEPSEEK = "gpt-5.6", "claude-sonnet-4-5", "gemini-2.5-flash", "deepseek-chat"
ALIASES = (
    ("openai", GPT),
    ("anthropic", CLAUDE),
    ("gemini", FLASH),
    ("deepseek", DEEPSEEK),
)
VERSION = {"anthropic-version": "2023-06-01"}

Body = dict[str, Any]


def chat(texts: list[str], model: str = GPT) -> Body:
    content = [{"type": "text", "text": text} for text in texts]
    return {"model": model, "messages": [{"role": "user", "content": content}]}


def chat_tools(count: int, model: str = GPT) -> Body:
    """Calls in one message, their results behind it; no template shows the arguments as sent."""
    calls = [
        {
            "id": f"c{n}",
            "type": "function",
            "function": {"name": "look", "arguments": f'{{"a":{n}}}'},
        }
        for n in range(count)
    ]
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": f"{n}"} for n in range(count)]
    asked = {"role": "user", "content": "go"}
    return {
        "model": model,
        "messages": [asked, {"role": "assistant", "tool_calls": calls}, *results],
    }


def anthropic(texts: list[str]) -> Body:
    return chat(texts, CLAUDE) | {"max_tokens": 1, "cache_control": {"type": "ephemeral"}}


def anthropic_tools(count: int) -> Body:
    calls = [
        {"type": "tool_use", "id": f"c{n}", "name": "look", "input": {"a": n}} for n in range(count)
    ]
    results = [
        {"type": "tool_result", "tool_use_id": f"c{n}", "content": f"{n}"} for n in range(count)
    ]
    return {
        "model": CLAUDE,
        "max_tokens": 1,
        "cache_control": {"type": "ephemeral"},
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": calls},
            {"role": "user", "content": results},
        ],
    }


def responses(texts: list[str]) -> Body:
    content = [{"type": "input_text", "text": text} for text in texts]
    return {"model": GPT, "input": [{"role": "user", "content": content}]}


def responses_tools(count: int) -> Body:
    calls = [
        {"type": "function_call", "call_id": f"c{n}", "name": "look", "arguments": f'{{"a":{n}}}'}
        for n in range(count)
    ]
    results = [
        {"type": "function_call_output", "call_id": f"c{n}", "output": f"{n}"} for n in range(count)
    ]
    return {"model": GPT, "input": [{"role": "user", "content": "go"}, *calls, *results]}


def gemini(texts: list[str]) -> Body:
    return {"contents": [{"role": "user", "parts": [{"text": text} for text in texts]}]}


def gemini_tools(count: int) -> Body:
    calls = [{"functionCall": {"name": "look", "args": {"a": n}}} for n in range(count)]
    results = [{"functionResponse": {"name": "look", "response": {"r": n}}} for n in range(count)]
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": calls},
            {"role": "user", "parts": results},
        ]
    }


def deepseek(texts: list[str]) -> Body:
    return chat(texts, DEEPSEEK)


def deepseek_tools(count: int) -> Body:
    return chat_tools(count, DEEPSEEK)


def find_nothing(name: str, _: str) -> Found:
    raise KeyError(name)


@dataclass(frozen=True)
class Way:
    """A dialect: where it is spoken, how, and how it is read."""

    path: str
    model: str
    texts: Callable[[list[str]], Body]
    tools: Callable[[int], Body]
    parse: Callable[[bytes], ChatRequest]


WAYS = {
    "openai": Way("/v1/chat/completions", GPT, chat, chat_tools, parse_chat),
    "responses": Way(
        "/v1/responses",
        GPT,
        responses,
        responses_tools,
        lambda body: parse_create(body, Kept(), "1").chat,
    ),
    "anthropic": Way(
        "/v1/messages",
        CLAUDE,
        anthropic,
        anthropic_tools,
        lambda body: AnthropicMessages().parse(body, Envelope(VERSION)),
    ),
    "gemini": Way(
        f"/v1beta/models/{FLASH}:generateContent",
        FLASH,
        gemini,
        gemini_tools,
        lambda body: GeminiGenerate(find_nothing).parse(body, Envelope(path={"model": FLASH})),
    ),
    "deepseek": Way(
        "/chat/completions",
        DEEPSEEK,
        deepseek,
        deepseek_tools,
        lambda body: DeepSeekChat().parse(body, Envelope()),
    ),
}


@pytest.fixture(scope="module")
def codec(default_model_path: Path) -> Codec:
    return Codec.from_gguf(default_model_path)


@pytest.fixture(scope="module")
def server(start_real: StartServer) -> Live:
    return start_real(aliases=ALIASES)


def post(server: Live, path: str, body: Body) -> httpx.Response:
    """Within SECONDS, whatever comes."""
    content = json.dumps(body).encode()
    headers = VERSION if "/messages" in path else {}
    with server.http(headers={"content-type": "application/json", **headers}) as http:
        began = time.perf_counter()
        answer = http.post(path, content=content)
        assert time.perf_counter() - began < SECONDS
    return answer


def check_too_long(answer: httpx.Response, dialect: str) -> None:
    """400 in the vendor's envelope, which names the vendor's reason."""
    assert answer.status_code == 400
    body = answer.json()
    error = body["error"]
    match dialect:
        case "anthropic":
            assert (body["type"], error["type"]) == ("error", "invalid_request_error")
            assert error["message"].startswith("prompt is too long: ")
        case "gemini":
            assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
            assert "exceeds the maximum number of tokens allowed" in error["message"]
        case _:
            code = "invalid_request_error" if dialect == "deepseek" else "context_length_exceeded"
            assert (error["type"], error["code"]) == ("invalid_request_error", code)
            assert "maximum context length is" in error["message"]


@pytest.mark.parametrize("dialect", WAYS)
def test_20_mb_are_refused_soon_in_the_vendors_envelope(server: Live, dialect: str) -> None:
    way = WAYS[dialect]
    check_too_long(post(server, way.path, way.texts(["word " * 4_000_000])), dialect)


def test_a_text_of_20_mb_is_refused_soon_by_completions_too(server: Live) -> None:
    body = {"model": "tiny", "prompt": "word " * 4_000_000}
    check_too_long(post(server, "/v1/completions", body), "openai")


@pytest.mark.parametrize("dialect", WAYS)
def test_10000_blocks_are_refused_soon_where_they_are_too_long(server: Live, dialect: str) -> None:
    way = WAYS[dialect]
    check_too_long(post(server, way.path, way.texts([f"{n} " for n in range(10_000)])), dialect)


def test_10000_blocks_are_counted_soon(server: Live) -> None:
    """A count is as long as it is; the marks are checked like a message's."""
    body = anthropic([f"{n}" for n in range(10_000)])
    del body["max_tokens"]
    answer = post(server, "/v1/messages/count_tokens", body)
    assert answer.status_code == 200
    assert answer.json()["input_tokens"] > 10_000


@pytest.mark.parametrize("shape", ["texts", "tools"])
@pytest.mark.parametrize("dialect", WAYS)
def test_eight_times_as_many_blocks_are_no_more_than_so_much_more_work(
    codec: Codec, dialect: str, shape: str
) -> None:
    """From the body to what the contract plans; a square of their number would be 64 times."""
    way = WAYS[dialect]
    terms = AllTerms("local", ALIASES, Rules.packaged()).of(way.model, dialect)

    def work(count: int) -> float:
        texts = [f"block {n} of many" for n in range(count)]
        body = json.dumps(way.texts(texts) if shape == "texts" else way.tools(count)).encode()
        asked = way.parse(body)
        text = codec.render(asked.conversation)
        ids = codec.encode(text, "large")
        best = float("inf")
        for _ in range(3):
            began = time.thread_time()
            prompt = to_prompt(codec, way.parse(body), text, ids, "large")
            terms.contract.plan(prompt, Entries(), 0.0).settle(0)
            best = min(best, time.thread_time() - began)
        return best

    assert work(3_200) < 24 * work(400)
