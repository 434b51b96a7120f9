"""What the tests of this folder say to the dialect."""

import json
from typing import Any

import pytest

from headstart.dialects.anthropic.request import parse_count, parse_messages
from headstart.dialects.chat import ChatRequest
from headstart.dialects.dialect import Envelope
from headstart.dialects.errors import ApiError

OLD = "2023-06-01"
NEW = "2026-10-21"
HELLO: dict[str, Any] = {"role": "user", "content": "hi"}
WEATHER: dict[str, Any] = {
    "name": "weather",
    "description": "Now.",
    "input_schema": {"type": "object", "properties": {"z": {}, "a": {}}},
}
TIME: dict[str, Any] = {"name": "time", "input_schema": {"type": "object"}}
CALLED: dict[str, Any] = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Zürich"}},
    ],
}
RESULT: dict[str, Any] = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain"}


def text(said: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **fields}


def marked(ttl: str | None = None) -> dict[str, Any]:
    return {"cache_control": {"type": "ephemeral"} | ({"ttl": ttl} if ttl else {})}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def parse(version: str = NEW, headers: dict[str, str] | None = None, **fields: Any) -> ChatRequest:
    """`None` leaves a field out."""
    body = {"model": "m", "max_tokens": 9, "messages": [HELLO]} | fields
    said = {name: value for name, value in body.items() if value is not None}
    envelope = Envelope({"anthropic-version": version} | (headers or {}))
    return parse_messages(json.dumps(said).encode(), envelope)


def count(version: str = NEW, **fields: Any) -> ChatRequest:
    body = json.dumps({"model": "m", "messages": [HELLO]} | fields).encode()
    return parse_count(body, Envelope({"anthropic-version": version}))


def refused(version: str = NEW, **fields: Any) -> str:
    with pytest.raises(ApiError) as caught:
        parse(version, **fields)
    assert caught.value.status == 400
    return caught.value.message
