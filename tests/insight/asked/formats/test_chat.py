from typing import Any

import pytest

from headstart.contracts.prompt import Mark
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.formats.chat import read
from headstart.insight.asked.formats.gateway import translated


def said(*parts: object) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": list(parts)}]}


def test_pictures_sounds_and_files_are_media() -> None:
    pieces = read(
        said(
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "file", "file": {"file_id": "file-1"}},
        )
    ).pieces
    assert [piece.media for piece in pieces] == ["image", "image", "audio", "file"]
    assert pieces[0].text == "https://example.com/a.png"
    assert pieces[1].text == pieces[2].text != "AAAA"
    assert pieces[3].text == "file-1"


def test_older_functions_are_tools_and_calls() -> None:
    body = {
        "functions": [{"name": "f", "parameters": {}}],
        "messages": [
            {"role": "user", "content": "a"},
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "f", "arguments": "{}"},
            },
            {"role": "function", "name": "f", "content": "1"},
        ],
    }
    pieces = read(body).pieces
    assert [(piece.kind, piece.name) for piece in pieces] == [
        ("tool", "f"),
        ("user", ""),
        ("tool_use", "f"),
        ("tool_result", "f"),
    ]
    assert pieces[2].address == ("messages", 1, "function_call")


def test_thoughts_that_are_sent_back_are_thinking() -> None:
    body = {"messages": [{"role": "assistant", "reasoning_content": "hm", "content": "a"}]}
    assert [(piece.kind, piece.text) for piece in read(body).pieces] == [
        ("thinking", "hm"),
        ("assistant", "a"),
    ]


def test_anthropics_marks_are_read_as_gateways_take_them() -> None:
    mark = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    body = {
        "tools": [{"type": "function", "function": {"name": "f", **mark}}],
        "messages": [
            {"role": "system", "content": "a", **mark},
            {"role": "user", "content": [{"type": "text", "text": "b", **mark}]},
        ],
    }
    pieces = read(body).pieces
    assert [piece.mark for piece in pieces] == [Mark("1h")] * 3
    bare = read(
        {
            "tools": [{"type": "function", "function": {"name": "f"}}],
            "messages": [
                {"role": "system", "content": "a"},
                {"role": "user", "content": [{"type": "text", "text": "b"}]},
            ],
        }
    ).pieces
    assert [piece.digest for piece in pieces] == [piece.digest for piece in bare]


def test_a_gateway_puts_the_system_prompt_where_the_vendor_has_it() -> None:
    body = {
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "messages": [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}],
        "parallel_tool_calls": True,
        "reasoning_effort": "low",
    }
    contents = read(body)
    claude = translated(contents, body, "anthropic")
    assert [piece.kind for piece in claude.pieces] == ["tool", "system", "user"]
    assert claude.settings == {"effort": '"low"'}
    gemini = translated(contents, body, "gemini")
    assert [piece.kind for piece in gemini.pieces] == ["system", "tool", "user"]
    assert translated(contents, body, "openai") is contents


def test_a_mark_on_an_answer_is_kept_and_cannot_count() -> None:
    part = {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
    (piece,) = read({"messages": [{"role": "assistant", "content": [part]}]}).pieces
    assert piece.mark == Mark()
    assert not piece.markable


def test_any_content_is_a_piece() -> None:
    assert [piece.text for piece in read(said("a", 3, {"type": "new", "x": 1})).pieces] == [
        "a",
        "3",
        '{"type": "new", "x": 1}',
    ]


def test_a_message_without_a_role_is_named() -> None:
    with pytest.raises(Unreadable, match=r"messages\[1\].role: expected a text, got null"):
        read({"messages": [{"role": "user", "content": "a"}, {"content": "b"}]})
