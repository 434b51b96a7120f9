import pytest

from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.formats.gemini import read

CAMEL = {
    "systemInstruction": {"parts": [{"text": "a"}]},
    "tools": [{"functionDeclarations": [{"name": "f"}]}],
    "contents": [
        {"parts": [{"text": "b"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"x": 1}}}]},
        {"parts": [{"functionResponse": {"name": "f", "response": {"y": 2}}}]},
        {"parts": [{"fileData": {"mimeType": "video/mp4", "fileUri": "gs://a"}}]},
    ],
    "cachedContent": "cachedContents/1",
}
SNAKE = {
    "system_instruction": {"parts": [{"text": "a"}]},
    "tools": [{"function_declarations": [{"name": "f"}]}],
    "contents": [
        {"parts": [{"text": "b"}, {"inline_data": {"mime_type": "image/png", "data": "AAAA"}}]},
        {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"x": 1}}}]},
        {"parts": [{"function_response": {"name": "f", "response": {"y": 2}}}]},
        {"parts": [{"file_data": {"mime_type": "video/mp4", "file_uri": "gs://a"}}]},
    ],
    "cached_content": "cachedContents/1",
}


def test_both_spellings_say_the_same() -> None:
    camel, snake = read(CAMEL), read(SNAKE)
    assert [piece.digest for piece in camel.pieces] == [piece.digest for piece in snake.pieces]
    assert [piece.media for piece in camel.pieces] == ["", "", "", "image", "", "", "video"]
    assert camel.wishes == snake.wishes
    assert camel.wishes.content == "cachedContents/1"


def test_instructions_come_before_tools() -> None:
    kinds = [piece.kind for piece in read(CAMEL).pieces]
    assert kinds[:3] == ["system", "tool", "user"]
    assert kinds[4:6] == ["tool_use", "tool_result"]


def test_googles_own_tools_are_tools() -> None:
    (tool,) = read({"tools": [{"googleSearch": {}}], "contents": []}).pieces
    assert (tool.kind, tool.name) == ("tool", "googleSearch")


def test_short_forms_of_the_sdk_are_read() -> None:
    body = {"system_instruction": "a", "contents": "b"}
    assert [piece.text for piece in read(body).pieces] == ["a", "b"]
    body = {"contents": {"role": "user", "parts": {"text": "c"}}}
    (piece,) = read(body).pieces
    assert (piece.text, piece.address) == ("c", ("contents", "parts"))


def test_thoughts_are_thinking_and_code_is_its_json() -> None:
    parts = [{"text": "hm", "thought": True}, {"executableCode": {"code": "1"}}]
    first, second = read({"contents": [{"role": "model", "parts": parts}]}).pieces
    assert first.kind == "thinking"
    assert second.json


def test_a_part_that_is_no_object_is_named() -> None:
    with pytest.raises(Unreadable, match=r"contents\[0\].parts\[1\]: expected an object"):
        read({"contents": [{"parts": [{"text": "a"}, "b"]}]})
