"""Every contract asked for in every dialect: what each client is told is what the ledger has."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conformance.conftest import Serve

MODELS = {
    "claude-opus-5": "anthropic",
    "gpt-5.6": "openai",
    "gpt-4.1": "openai",
    "gemini-2.5-flash": "gemini",
    "deepseek-chat": "deepseek",
    "plain": "engine",
}
TEXT = "~" * 2400
MARKS = ("claude-opus-5", "gpt-5.6")
"""Those that know marks: Anthropic's without a lifetime, as OpenAI's, are the model's own."""


@dataclass(frozen=True)
class Way:
    """One dialect: how it is asked, and what its usage says: prompt, read, written and output."""

    path: str
    body: Callable[[str, str, bool], dict[str, Any]]
    tells: Callable[[Mapping[str, Any]], tuple[int, int, int | None, int]]
    streamed: str = ""


def messages(model: str, opening: str, stream: bool) -> dict[str, Any]:
    mark = {"cache_control": {"type": "ephemeral"}} if model in MARKS else {}
    system = [{"type": "text", "text": opening + TEXT, **mark}]
    said = [{"role": "user", "content": "Go on."}]
    return {
        "model": model, "max_tokens": 3, "system": system, "messages": said, "stream": stream
    }  # fmt: skip


def chat(model: str, opening: str, stream: bool) -> dict[str, Any]:
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}} if model in MARKS else {}
    system = {"role": "system", "content": [{"type": "text", "text": opening + TEXT, **mark}]}
    body = {"model": model, "max_tokens": 3, "messages": [system, {"role": "user", "content": "?"}]}
    return body | ({"stream": True, "stream_options": {"include_usage": True}} if stream else {})


def responses(model: str, opening: str, stream: bool) -> dict[str, Any]:
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}} if model in MARKS else {}
    content = [{"type": "input_text", "text": opening + TEXT, **mark}]
    said = [{"role": "developer", "content": content}, {"role": "user", "content": "?"}]
    return {"model": model, "max_output_tokens": 16, "input": said, "stream": stream}


def contents(_: str, opening: str, __: bool) -> dict[str, Any]:
    said = [{"role": "user", "parts": [{"text": opening + TEXT}]}]
    return {"contents": said, "generationConfig": {"maxOutputTokens": 3}}


def of_anthropic(usage: Mapping[str, Any]) -> tuple[int, int, int | None, int]:
    read, written = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
    assert sum(usage.get("cache_creation", {"": written}).values()) == written
    return usage["input_tokens"] + read + written, read, written, usage["output_tokens"]


def of_chat(usage: Mapping[str, Any]) -> tuple[int, int, int | None, int]:
    prompt, details = usage["prompt_tokens"], usage["prompt_tokens_details"]
    assert usage["total_tokens"] == prompt + usage["completion_tokens"]
    read, written = details["cached_tokens"], details.get("cache_write_tokens")
    if "prompt_cache_hit_tokens" in usage:
        assert usage["prompt_cache_hit_tokens"] == read
        assert read + usage["prompt_cache_miss_tokens"] == prompt
    return prompt, read, written, usage["completion_tokens"]


def of_responses(usage: Mapping[str, Any]) -> tuple[int, int, int | None, int]:
    prompt, details = usage["input_tokens"], usage["input_tokens_details"]
    assert usage["total_tokens"] == prompt + usage["output_tokens"]
    written = details["cache_write_tokens"]
    classes = details.get("cache_write_tokens_details", {"": written})
    assert sum(classes.values()) == written
    return prompt, details["cached_tokens"], written, usage["output_tokens"]


def of_gemini(usage: Mapping[str, Any]) -> tuple[int, int, int | None, int]:
    prompt, output = usage["promptTokenCount"], usage["candidatesTokenCount"]
    assert usage["totalTokenCount"] == prompt + output
    return prompt, usage.get("cachedContentTokenCount", 0), None, output


GEMINI = "/v1beta/models/{}:"
WAYS = {
    "anthropic.messages": Way("/v1/messages", messages, of_anthropic),
    "openai.chat": Way("/v1/chat/completions", chat, of_chat),
    "deepseek.chat": Way("/chat/completions", chat, of_chat),
    "openai.responses": Way("/v1/responses", responses, of_responses),
    "gemini.generate": Way(
        GEMINI + "generateContent", contents, of_gemini, GEMINI + "streamGenerateContent?alt=sse"
    ),
}


def usages(answer: httpx.Response) -> Iterator[Mapping[str, Any]]:
    """Every usage object that an answer has, whole or streamed."""
    lines = answer.text.splitlines()
    told = [line[6:] for line in lines if line.startswith("data: ") and line != "data: [DONE]"]
    for text in told or [answer.text]:
        said = json.loads(text)
        for holder in (said, said.get("message", {}), said.get("response", {})):
            usage = holder.get("usage") or holder.get("usageMetadata")
            if usage:
                yield usage


@pytest.mark.slow
def test_acct_what_every_client_is_told_under_every_contract_is_what_the_ledger_has(
    serve: Serve, tmp_path: Path
) -> None:
    path = tmp_path / "ledger.db"
    aliases = tuple((vendor, name) for name, vendor in MODELS.items())
    live = serve(aliases=aliases, ledger=str(path), kv_memory_bytes=64 << 20).live
    headers = {"anthropic-version": "2023-06-01"}
    told: dict[tuple[str, str], list[tuple[int, int, int | None, int]]] = {}
    with live.http(headers={"authorization": "Bearer x"}) as http:
        for number, (model, way) in enumerate((m, w) for m in MODELS for w in WAYS):
            asked = WAYS[way]
            for stream in (False, True, False):
                where = (asked.streamed if stream else "") or asked.path
                body = asked.body(model, f"{number} {model} {way} ", stream)
                extra = headers if way == "anthropic.messages" else {}
                answer = http.post(where.format(model), json=body, headers=extra)
                assert answer.status_code == 200, answer.text
                *_, last = usages(answer)
                told.setdefault((model, way), []).append(asked.tells(last))
        live.get("/v1/usage")
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT model, dialect, prompt, read, written, output FROM requests ORDER BY id"
        ).fetchall()
    kept: dict[tuple[str, str], list[tuple[int, ...]]] = {}
    for model, dialect, *account in rows:
        kept.setdefault((model, dialect), []).append(tuple(account))
    assert kept.keys() == told.keys()
    for key, seen in told.items():
        for (prompt, read, written, output), account in zip(seen, kept[key], strict=True):
            assert (prompt, read, account[2] if written is None else written, output) == account
        markless = key == ("claude-opus-5", "gemini.generate")  # Gemini's bodies have no marks.
        assert (sum(read for _, read, _, _ in seen) == 0) == markless, key
    billed = {model for (model, _), accounts in kept.items() if any(each[2] for each in accounts)}
    assert billed == set(MARKS)
