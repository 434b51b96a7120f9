"""`POST /tokenize` of a whole request: what that request's own answer says, and where parts end."""

from typing import Any

import pytest

SYSTEM = "You are a helpful assistant. Answer the question in one short sentence."
TOOL = {"type": "object", "properties": {"city": {"type": "string"}}}

BODIES: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "/v1/chat/completions",
        {
            "model": "tiny",
            "max_tokens": 1,
            "messages": [
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": "What is a cache?"},
            ],
            "tools": [{"type": "function", "function": {"name": "weather", "parameters": TOOL}}],
        },
        ["tools[0]", "messages[0].content", "messages[1].content"],
    ),
    (
        "/v1/messages",
        {
            "model": "tiny",
            "max_tokens": 1,
            "system": SYSTEM,
            "messages": [{"role": "user", "content": "What is a cache?"}],
            "tools": [{"name": "weather", "input_schema": TOOL}],
        },
        ["tools.0", "system.0", "messages.0.content.0"],
    ),
    (
        "/v1/responses",
        {"model": "tiny", "max_output_tokens": 16, "instructions": SYSTEM, "input": "A cache?"},
        ["instructions", "input.content"],
    ),
    (
        "/v1beta/models/tiny:generateContent",
        {
            "systemInstruction": {"parts": [{"text": SYSTEM}]},
            "contents": [{"role": "user", "parts": [{"text": "What is a cache?"}]}],
            "generationConfig": {"maxOutputTokens": 1},
        },
        [],
    ),
]


def prompt_tokens(answer: dict[str, Any]) -> int:
    usage = answer.get("usage") or answer["usageMetadata"]
    beside = ("cache_read_input_tokens", "cache_creation_input_tokens")
    told = usage.get("prompt_tokens") or usage.get("promptTokenCount") or usage["input_tokens"]
    return int(told) + sum(usage.get(name, 0) for name in beside)


@pytest.mark.parametrize(("path", "body", "paths"), BODIES)
def test_a_whole_request_has_as_many_tokens_as_its_answer_counts(
    live: Any, path: str, body: dict[str, Any], paths: list[str]
) -> None:
    with live.http(headers={"anthropic-version": "2023-06-01"}) as http:
        answer = http.post(path, json=body)
        told = http.post("/tokenize", json={"path": f"{path}?beta=true", "body": body})
    assert answer.status_code == told.status_code == 200, (answer.text, told.text)
    found = told.json()
    assert found["count"] == len(found["tokens"]) == prompt_tokens(answer.json())
    if paths:
        assert [part["path"] for part in found["parts"]] == paths
    ends = [part["end"] for part in found["parts"]]
    assert ends == sorted(ends)
    assert found["adapter"] is None
    # Behind the last message comes only what opens the answer.
    assert found["messages"][-1] == ends[-1] < found["count"]


def test_what_is_no_chat_request_and_what_its_endpoint_refuses_is_400(live: Any) -> None:
    with live.http() as http:
        for path, body in (
            ("/v1/embeddings", {}),
            ("/v1/messages", {"model": "tiny"}),
            ("/v1/chat/completions", {"model": "tiny", "messages": 3}),
        ):
            assert http.post("/tokenize", json={"path": path, "body": body}).status_code == 400
        unknown = {"model": "nobody", "messages": [{"role": "user", "content": "Hi"}]}
        asked = {"path": "/v1/chat/completions", "body": unknown}
        assert http.post("/tokenize", json=asked).status_code == 404
