"""Response bodies and usage records without the requests."""

import json
from pathlib import Path
from typing import Any

import pytest

from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.source import read_file
from headstart.ledger import Account

CHAT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1790000000,
    "model": "gpt-5.4",
    "choices": [],
    "service_tier": "flex",
    "usage": {
        "prompt_tokens": 1500,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 1408},
    },
}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "model": "claude-sonnet-4-5",
    "content": [],
    "usage": {"input_tokens": 3, "cache_read_input_tokens": 1000, "output_tokens": 1},
}
GEMINI: dict[str, Any] = {
    "candidates": [],
    "modelVersion": "gemini-2.5-flash",
    "usageMetadata": {
        "promptTokenCount": 3000,
        "cachedContentTokenCount": 2048,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 6,
    },
}
DEEPSEEK: dict[str, Any] = {
    "id": "1",
    "model": "deepseek-chat",
    "choices": [],
    "usage": {
        "prompt_tokens": 130,
        "prompt_cache_hit_tokens": 128,
        "prompt_cache_miss_tokens": 2,
        "completion_tokens": 7,
    },
}


def one(tmp_path: Path, value: Any) -> Any:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(value) + "\n")
    (asked,) = read_file(path)
    assert not asked.has_body
    return asked


@pytest.mark.parametrize(
    ("body", "vendor", "model", "told"),
    [
        (CHAT, "openai", "gpt-5.4", Account(1500, 1408, 5)),
        (MESSAGE, "anthropic", "claude-sonnet-4-5", Account(1003, 1000, 1)),
        (GEMINI, "gemini", "gemini-2.5-flash", Account(3000, 2048, 10)),
        (DEEPSEEK, "deepseek", "deepseek-chat", Account(130, 128, 7)),
    ],
    ids=["openai", "anthropic", "gemini", "deepseek"],
)
def test_a_vendors_answer_is_its_usage(
    tmp_path: Path, body: Any, vendor: str, model: str, told: Account
) -> None:
    asked = one(tmp_path, body)
    assert (asked.vendor, asked.model, asked.account) == (vendor, model, told)


def test_a_tier_and_the_time_are_kept(tmp_path: Path) -> None:
    asked = one(tmp_path, CHAT)
    assert (asked.tier, asked.time) == ("flex", 1790000000.0)


def test_a_record_of_usage_alone_keeps_what_stands_beside_it(tmp_path: Path) -> None:
    record = {
        "id": "r",
        "time": 5,
        "tenant": "t",
        "session": "s",
        "route": "eu",
        "model": "gpt-5.4",
    }
    asked = one(tmp_path, {**record, "usage": CHAT["usage"]})
    assert (asked.id, asked.time, asked.tenant, asked.session, asked.route) == (
        "r",
        5.0,
        "t",
        "s",
        "eu",
    )


def test_errors_are_passed_over_and_anything_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    values: list[Any] = [CHAT, CHAT, CHAT, {"error": {"message": "overloaded"}}, CHAT]
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    assert len(list(read_file(path))) == 4
    path.write_text("".join(json.dumps(value) + "\n" for value in [*values, {"a": 1}]))
    with pytest.raises(Unreadable, match=r":6: neither a request nor usage"):
        list(read_file(path))


def test_a_request_that_asks_for_usage_is_still_a_request(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    body = {"model": "m", "messages": [], "usage": {"include": True}}
    path.write_text(json.dumps(body))
    (asked,) = read_file(path)
    assert asked.has_body
