"""The lenient readers say of a body what the strict dialects say, wherever both can read it."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from headstart.dialects.anthropic.chat import AnthropicMessages
from headstart.dialects.chat import ChatRequest, Part
from headstart.dialects.dialect import Envelope
from headstart.dialects.gemini.generate import GeminiGenerate
from headstart.dialects.gemini.request import Found
from headstart.dialects.openai.chat_request import parse_chat
from headstart.dialects.openai.responses.request import parse_create
from headstart.insight.asked.asked import Asked
from headstart.insight.asked.prompt import path_of
from headstart.insight.asked.read import read

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

ANTHROPIC: Sequence[dict[str, Any]] = (
    {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 5},
    {
        "max_tokens": 5,
        "system": [
            {"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "be kind"},
        ],
        "tools": [
            {"name": "weather", "description": "Tells it.", "input_schema": SCHEMA},
            {
                "name": "clock",
                "input_schema": {"type": "object"},
                "cache_control": {"type": "ephemeral", "ttl": "1h"},
            },
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Berlin?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "so", "signature": "x"},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Bern"}},
                    {"type": "tool_use", "id": "t2", "name": "clock", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "rain"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "t2",
                        "is_error": True,
                        "content": [
                            {
                                "type": "text",
                                "text": "broken",
                                "cache_control": {"type": "ephemeral"},
                            },
                            {"type": "text", "text": "again"},
                        ],
                    },
                    {
                        "type": "document",
                        "title": "Map",
                        "source": {"type": "text", "media_type": "text/plain", "data": "of Bern"},
                    },
                    {
                        "type": "search_result",
                        "title": "A",
                        "source": "http://b",
                        "content": [{"type": "text", "text": "c"}],
                    },
                ],
            },
            {"role": "system", "content": "be brief"},
        ],
        "cache_control": {"type": "ephemeral", "ttl": "5m"},
        "tool_choice": {"disable_parallel_tool_use": False, "type": "tool", "name": "clock"},
        "thinking": {"display": None, "type": "adaptive"},
        "output_config": {"effort": "low"},
        "speed": "fast",
    },
    {
        "max_tokens": 5,
        "messages": [{"role": "user", "content": "Zürich?"}, {"role": "user", "content": "now"}],
        "output_config": {"format": {"schema": {"type": "object", "é": 1}, "type": "json_schema"}},
        "tool_choice": {"type": "auto"},
        "tools": [{"name": "a", "input_schema": SCHEMA}],
    },
)
CHAT: Sequence[dict[str, Any]] = (
    {"messages": [{"role": "user", "content": "hi"}]},
    {
        "tools": [
            {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}},
            {"type": "function", "function": {"name": "clock", "description": "Tells it."}},
        ],
        "messages": [
            {"role": "developer", "content": "be brief"},
            {"role": "system", "content": [{"type": "text", "text": "be kind"}]},
            {
                "role": "user",
                "name": "ada",
                "content": [
                    {
                        "type": "text",
                        "text": "Berlin?",
                        "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"},
                    },
                    {"type": "text", "text": "and Bern?"},
                ],
            },
            {
                "role": "assistant",
                "content": [{"type": "refusal", "refusal": "no"}],
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "weather", "arguments": '{"city":"Bern"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "rain"},
            {"role": "assistant", "content": None, "tool_calls": []}
            | {
                "tool_calls": [
                    {"id": "c2", "function": {"name": "clock", "arguments": ""}},
                    {"id": "c3", "function": {"name": "clock", "arguments": "{}"}},
                ]
            },
            {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "9"}]},
            {"role": "tool", "tool_call_id": "c3", "content": "9"},
            {"role": "user", "content": "Berlin?"},
        ],
        "prompt_cache_key": "k",
        "prompt_cache_options": {"mode": "explicit", "ttl": "30m"},
        "prompt_cache_retention": "24h",
        "parallel_tool_calls": False,
        "reasoning_effort": "low",
        "verbosity": "high",
        "service_tier": "flex",
        "response_format": {"type": "json_schema", "json_schema": {"name": "ü", "schema": {}}},
    },
)
RESPONSES: Sequence[dict[str, Any]] = (
    {"input": "hi"},
    {
        "instructions": "be brief",
        "tools": [
            {"type": "function", "name": "weather", "parameters": SCHEMA},
            {"type": "function", "name": "clock", "description": "Tells it."},
        ],
        "input": [
            {"role": "developer", "content": "be kind"},
            {
                "type": "message",
                "role": "user",
                "content": [
                    {
                        "type": "input_text",
                        "text": "Berlin?",
                        "prompt_cache_breakpoint": {"mode": "explicit"},
                    }
                ],
            },
            {"role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
            {"type": "function_call", "call_id": "c2", "name": "clock", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "rain"},
            {
                "type": "function_call_output",
                "call_id": "c2",
                "output": [{"type": "input_text", "text": "9"}],
            },
            {"type": "function_call", "call_id": "c3", "name": "clock", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c3", "output": "9"},
            {"role": "assistant", "content": "Nine."},
            {"role": "user", "content": "Thanks"},
        ],
        "prompt_cache_key": "k",
        "prompt_cache_options": {"ttl": "12h"},
        "reasoning": {"effort": "high"},
        "text": {"verbosity": "low", "format": {"type": "text"}},
        "parallel_tool_calls": True,
        "service_tier": "auto",
    },
)
GEMINI: Sequence[dict[str, Any]] = (
    {"contents": [{"parts": [{"text": "hi"}]}]},
    {
        "systemInstruction": {"parts": [{"text": "be brief"}, {"text": "be kind"}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "weather", "parametersJsonSchema": SCHEMA},
                    {"name": "clock", "description": "Tells it."},
                ]
            },
            {"function_declarations": [{"name": "map"}]},
        ],
        "contents": [
            {"role": "user", "parts": [{"text": "Berlin?"}, {"text": "Bern?"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "I look."},
                    {"functionCall": {"name": "weather", "args": {"city": "Bern"}}},
                    {"function_call": {"name": "clock"}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "weather", "response": {"is": "rain"}}},
                    {"function_response": {"name": "clock", "response": {}}},
                    {"text": "well?"},
                ],
            },
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    },
)


class NothingKept:
    def chain(self, response_id: str) -> Any:
        raise AssertionError(response_id)

    def item(self, item_id: str) -> Any:
        raise AssertionError(item_id)


def nothing_cached(name: str, model: str) -> Found:
    raise AssertionError(name)


def strict(format: str, body: dict[str, Any]) -> ChatRequest:
    raw = json.dumps(body).encode()
    match format:
        case "anthropic":
            headers = {"anthropic-version": "2026-10-21"}
            return AnthropicMessages().parse(raw, Envelope(headers))
        case "chat":
            return parse_chat(raw)
        case "responses":
            return parse_create(raw, NothingKept(), "u").chat
        case _:
            del body["model"]
            envelope = Envelope(path={"model": "gemini-3-pro"})
            return GeminiGenerate(nothing_cached).parse(json.dumps(body).encode(), envelope)


BODIES = [
    pytest.param(format, {"model": model, **body}, id=f"{format}-{number}")
    for format, model, bodies in (
        ("anthropic", "claude-opus-5", ANTHROPIC),
        ("chat", "gpt-6-sol", CHAT),
        ("responses", "gpt-6-sol", RESPONSES),
        ("gemini", "gemini-3-pro", GEMINI),
    )
    for number, body in enumerate(bodies)
]
pairs = pytest.mark.parametrize(("format", "body"), BODIES)


def both(format: str, body: dict[str, Any]) -> tuple[Asked, ChatRequest]:
    asked = read(body)
    assert asked.format == format
    return asked, strict(format, dict(body))


@pairs
def test_pieces_are_the_parts_in_the_same_order(format: str, body: dict[str, Any]) -> None:
    asked, request = both(format, body)
    assert [piece.kind for piece in asked.pieces] == [part.kind for part in request.parts]
    assert [piece.mark for piece in asked.pieces] == [part.mark for part in request.parts]


@pairs
def test_every_text_that_is_shown_is_in_its_piece(format: str, body: dict[str, Any]) -> None:
    asked, request = both(format, body)
    for piece, part in zip(asked.pieces, request.parts, strict=True):
        if part.shown and piece.kind != "tool":
            assert "".join(part.shown) in (piece.text, piece.name + piece.text)
        for shown in part.shown[:1]:
            assert piece.kind != "tool" or piece.name == shown


@pairs
def test_settings_wishes_and_partition_are_spelled_alike(format: str, body: dict[str, Any]) -> None:
    asked, request = both(format, body)
    assert asked.settings == request.settings
    assert asked.wishes == request.wishes
    assert asked.partition == request.partition
    assert asked.model == request.model


@pairs
def test_messages_are_numbered_alike(format: str, body: dict[str, Any]) -> None:
    asked, request = both(format, body)
    if format != "gemini":  # The dialect numbers the template's messages, which aren't the body's.
        assert [piece.message for piece in asked.pieces] == [each.message for each in request.parts]


@pairs
def test_places_are_spelled_as_the_vendor_does(format: str, body: dict[str, Any]) -> None:
    asked, request = both(format, body)
    for piece, part in zip(asked.pieces, request.parts, strict=True):
        if format != "gemini":  # Google's own spelling is snake_case, the body's may be either.
            # A text as input is a message to the dialect, with a content the body hasn't got.
            assert path_of(piece, asked.format) == part.path.replace("input.content", "input")


@pairs
def test_what_may_carry_a_mark_is_the_same(format: str, body: dict[str, Any]) -> None:
    asked, request = both(format, body)
    if format == "anthropic":
        assert [piece.markable for piece in asked.pieces] == [
            part.markable for part in request.parts
        ]


@pairs
def test_two_pieces_are_equal_where_their_parts_are(format: str, body: dict[str, Any]) -> None:
    asked, request = both(format, body)

    def classes(found: Sequence[Any]) -> list[int]:
        digests = [each.digest for each in found]
        return [digests.index(each) for each in digests]

    parts: Sequence[Part] = request.parts
    if format == "gemini":  # There a result's name is not in the dialect's digest.
        parts = [
            replace(part, digest=part.digest + piece.name.encode())
            for part, piece in zip(parts, asked.pieces, strict=True)
        ]
    assert classes(asked.pieces) == classes(parts)


@pairs
def test_an_address_leads_to_what_the_piece_says(format: str, body: dict[str, Any]) -> None:
    for piece in read(body).pieces:
        value: Any = body
        for step in piece.address:
            value = value[step]
        assert value is not None
        held = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if piece.kind in ("tool", "tool_use"):
            assert piece.name in held
        else:
            assert piece.json or piece.text in held or "\n" in piece.text
