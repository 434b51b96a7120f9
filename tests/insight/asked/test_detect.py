from typing import Any

import pytest

from headstart.insight.asked.detect import Signs, format_of, model_of, plain_name, vendor_of
from headstart.insight.asked.read import read

USER: list[dict[str, Any]] = [{"role": "user", "content": "a"}]
TYPED: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "a"}]}]
BARE: list[dict[str, Any]] = [{"role": "user", "content": [{"text": "a"}]}]


@pytest.mark.parametrize(
    ("body", "format"),
    [
        ({"messages": USER}, "chat"),
        ({"messages": TYPED, "model": "gpt-6"}, "chat"),
        ({"messages": TYPED, "system": "s"}, "anthropic"),
        ({"messages": TYPED, "anthropic_version": "bedrock-2023-05-31"}, "anthropic"),
        ({"messages": USER, "model": "claude-opus-5", "max_tokens": 9}, "anthropic"),
        (
            {
                "messages": [{"role": "system", "content": "s"}, *USER],
                "model": "claude-opus-5",
                "max_tokens": 9,
            },
            "chat",
        ),
        ({"messages": USER, "tools": [{"name": "f", "input_schema": {}}]}, "anthropic"),
        ({"messages": USER, "tools": [{"type": "function", "function": {}}]}, "chat"),
        ({"messages": [*USER, {"role": "tool", "tool_call_id": "c", "content": "1"}]}, "chat"),
        ({"messages": BARE}, "converse"),
        ({"messages": BARE, "system": [{"text": "s"}]}, "converse"),
        ({"messages": USER, "inferenceConfig": {}}, "converse"),
        ({"input": "a"}, "responses"),
        ({"input": USER, "instructions": "i"}, "responses"),
        ({"contents": []}, "gemini"),
        ({"systemInstruction": {}, "ttl": "60s"}, "gemini"),
        ({"prompt": "a"}, "completion"),
        ({"prompt": [1, 2]}, "completion"),
        ({"model": "m", "usage": {}}, None),
        ({"messages": "a"}, None),
        ({}, None),
    ],
)
def test_a_format_is_told_by_its_fields(body: dict[str, Any], format: str | None) -> None:
    assert format_of(body) == format


@pytest.mark.parametrize("system", [None, "s", [{"type": "text", "text": "s"}]])
def test_a_native_anthropic_body_is_never_read_as_converse(system: object) -> None:
    """A peer read one without `anthropic_version` so, and found no marker in it."""
    body: dict[str, Any] = {"model": "claude-opus-5", "max_tokens": 9, "messages": TYPED}
    if system is not None:
        body["system"] = system
    assert format_of(body) == "anthropic"
    del body["model"]
    assert format_of(body) != "converse"


@pytest.mark.parametrize(
    ("url", "body", "format"),
    [
        ("https://openrouter.ai/api/v1/chat/completions", {"messages": USER, "system": 1}, "chat"),
        ("/v1/messages?beta=true", {"messages": USER}, "anthropic"),
        ("/v1/messages/count_tokens", {"messages": USER}, "anthropic"),
        ("/model/anthropic.claude/converse-stream", {"messages": USER}, "converse"),
        ("/v1/completions", {"prompt": "a"}, "completion"),
        ("/v1/chat/completions", {"input": "a"}, "responses"),  # The body is what counts.
    ],
)
def test_a_path_decides_what_fields_leave_open(url: str, body: dict[str, Any], format: str) -> None:
    assert format_of(body, Signs(url=url)) == format


def test_a_header_tells_anthropic() -> None:
    assert format_of({"messages": USER}, Signs(headers={"anthropic-version": "1"})) == "anthropic"


@pytest.mark.parametrize(
    ("format", "model", "signs", "vendor"),
    [
        ("chat", "gpt-6-sol", Signs(), "openai"),
        ("chat", "deepseek-chat", Signs(), "deepseek"),
        ("chat", "deepseek/deepseek-reasoner", Signs(), "deepseek"),
        ("chat", "anthropic/claude-opus-5", Signs(), "anthropic"),
        ("chat", "google/gemini-3-pro", Signs(), "gemini"),
        ("chat", "Qwen/Qwen3-8B", Signs(), "engine"),
        ("chat", "Qwen/Qwen3-8B", Signs(provider="vllm"), "engine"),
        ("chat", "qwen-max", Signs(), "engine"),
        ("chat", "meta-llama/Llama-3.3-70B-Instruct", Signs(), "engine"),
        ("chat", "glm-4.6", Signs(url="https://api.openai.com/v1/chat/completions"), "openai"),
        ("chat", "my-own-deployment", Signs(), "openai"),
        ("chat", "Qwen/Qwen3-8B", Signs(provider="hosted_vllm"), "engine"),
        ("chat", "gpt-oss", Signs(provider="engine"), "engine"),
        ("chat", "m", Signs(url="https://api.deepseek.com/chat/completions"), "deepseek"),
        ("anthropic", "m", Signs(), "anthropic"),
        ("anthropic", "claude-opus-5", Signs(provider="vertex_ai"), "anthropic"),
        ("chat", "gemini-3-pro", Signs(provider="vertex_ai"), "gemini"),
        ("converse", "us.anthropic.claude-opus-5-v1:0", Signs(provider="aws.bedrock"), "anthropic"),
        ("responses", "gpt-6-sol", Signs(provider="azure"), "openai"),
        ("gemini", "gemini-3-pro", Signs(), "gemini"),
        ("chat", "claude-opus-5", Signs(provider="openai"), "openai"),
    ],
)
def test_a_vendor_is_told_by_the_provider_the_host_and_the_name(
    format: Any, model: str, signs: Signs, vendor: str
) -> None:
    assert vendor_of(format, model, signs) == vendor


def test_a_model_is_found_in_the_body_beside_it_or_in_the_path() -> None:
    assert model_of({"model": "models/gemini-3-pro"}) == "gemini-3-pro"
    assert model_of({}, Signs(model="m")) == "m"
    url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent"
    assert model_of({}, Signs(url=url)) == "gemini-3-pro"
    assert model_of({}, Signs(url="/model/anthropic.claude-3/invoke")) == "anthropic.claude-3"
    assert model_of({}) == ""


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5-20250929"),
        ("anthropic/claude-opus-5", "claude-opus-5"),
        ("claude-opus-5@20260101", "claude-opus-5-20260101"),
        ("gpt-6-sol", "gpt-6-sol"),
        ("meta-llama/Llama-3.1-8B", "meta-llama/llama-3.1-8b"),
    ],
)
def test_a_name_is_freed_of_what_clouds_put_around_it(model: str, name: str) -> None:
    assert plain_name(model) == name


def test_a_request_is_read_with_its_vendor() -> None:
    asked = read({"messages": USER, "model": "deepseek-chat"})
    assert (asked.format, asked.vendor, asked.model) == ("chat", "deepseek", "deepseek-chat")
