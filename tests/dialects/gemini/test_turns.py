"""From contents to messages."""

import json
from base64 import b64encode
from typing import Any

import pytest

from headstart.dialects.errors import ApiError
from headstart.dialects.gemini.content import Content, Part
from headstart.dialects.gemini.prompt import numbered
from headstart.dialects.gemini.turns import read_turns
from headstart.dialects.gemini.wire import read
from headstart.text.chat import Message, ToolCall


def contents(*turns: tuple[str | None, list[Any]]) -> list[Content]:
    return [
        read(json.dumps({"role": role, "parts": parts}).encode(), Content) for role, parts in turns
    ]


def messages(*turns: tuple[str | None, list[Any]]) -> list[Message]:
    said, _ = read_turns("m", None, numbered(contents(*turns)))
    return list(said)


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"text": said, **more}


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, **more}}


def result(name: str, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, **more}}


def test_parts_of_a_user_are_lines_and_contents_are_messages() -> None:
    assert messages((None, [text("a"), text("b")]), ("user", [text("c")])) == [
        Message("user", "a\nb"),
        Message("user", "c"),
    ]


def test_pieces_of_an_answer_that_was_streamed_are_the_answer() -> None:
    whole = messages(("user", [text("q")]), ("model", [text("one two")]))
    pieces = [("model", [text("one")]), ("model", [text(" two")]), ("model", [text("")])]
    assert messages(("user", [text("q")]), *pieces) == whole


def test_instructions_come_first() -> None:
    system = Content(parts=[Part(text="a"), Part(text="b")])
    said, parts = read_turns("m", system, numbered(contents(("user", [text("q")]))))
    assert said == (Message("system", "a\nb"), Message("user", "q"))
    assert [(part.kind, part.path, part.shown) for part in parts] == [
        ("system", "system_instruction.parts[0]", ("a",)),
        ("system", "system_instruction.parts[1]", ("b",)),
        ("user", "contents[0].parts[0]", ("q",)),
    ]


def test_calls_and_results_find_each_other_by_id_and_else_by_name_in_order() -> None:
    said = messages(
        ("model", [call("f", id="x1", args={"a": 1}), call("g"), call("g", args={"é": [1, 2]})]),
        ("user", [result("g", response={"r": 1}), result("f", id="x1"), result("g")]),
    )
    called = said[0].tool_calls
    assert [(each.name, each.arguments) for each in called] == [
        ("f", '{"a": 1}'),
        ("g", "{}"),
        ("g", '{"é": [1, 2]}'),
    ]
    assert called[0] == ToolCall("x1", "f", '{"a": 1}')
    assert len({each.id for each in called}) == 3
    assert [(each.name, each.tool_call_id, each.content) for each in said[1:]] == [
        ("g", called[1].id, '{"r": 1}'),
        ("f", "x1", "{}"),
        ("g", called[2].id, "{}"),
    ]


def test_an_id_that_is_made_stays_the_same_when_the_conversation_goes_on() -> None:
    turns = [("model", [call("f")]), ("function", [result("f")]), ("model", [text("ok")])]
    longer = messages(*turns, ("user", [text("more")]), ("model", [call("f")]))
    assert longer[: len(turns)] == messages(*turns)


def test_text_beside_results_keeps_its_place() -> None:
    said = messages(("model", [call("f")]), ("user", [text("a"), result("f"), text("b")]))
    assert [(each.role, each.content) for each in said[1:]] == [
        ("user", "a"),
        ("tool", "{}"),
        ("user", "b"),
    ]


def test_thoughts_and_signatures_are_not_shown() -> None:
    thought = text("hm", thought=True)
    said = messages(("model", [thought, text("yes", thoughtSignature="abc=")]))
    assert said == [Message("assistant", "yes")]


def test_a_text_that_comes_as_a_file_is_text() -> None:
    """As the transcript in Google's sample cache.sh."""
    data = b64encode("Café at 1".encode()).decode()
    blob = {"inlineData": {"mimeType": "text/plain", "data": data}}
    assert messages(("user", [blob, text("?")])) == messages(
        ("user", [text("Café at 1"), text("?")])
    )


@pytest.mark.parametrize(
    ("role", "part", "said"),
    [
        ("user", {"inlineData": {"mimeType": "text/plain", "data": "?"}}, "TYPE_BYTES"),
        ("user", {"inlineData": {"mimeType": "text/plain", "data": "/w=="}}, "TYPE_BYTES"),
        ("user", {"text": "a", "inlineData": {"mimeType": "text/csv"}}, "'data' is already set"),
        ("system", text("a"), "Please use a valid role: user, model."),
        ("user", {"inlineData": {"mimeType": "image/png", "data": ""}}, "Image input modality"),
        ("user", {"fileData": {"mimeType": "audio/mp3", "fileUri": "x"}}, "Audio input modality"),
        ("user", {"inlineData": {"mimeType": "application/pdf"}}, "Document input modality"),
        ("user", {"executableCode": {"code": "1"}}, "Code execution is not enabled"),
        ("user", {}, r"required oneof field 'data' must have one initialized field"),
        ("user", {"text": "a", "functionCall": {"name": "f"}}, "oneof field 'data' is already set"),
        ("user", call("f"), "only the model calls"),
        ("model", result("f"), "not for the model"),
        ("user", result("f"), "function response turn comes immediately after a function call"),
    ],
)
def test_what_no_text_model_can_read_is_refused_in_googles_words(
    role: str, part: Any, said: str
) -> None:
    with pytest.raises(ApiError, match=said):
        messages((role, [part]))


def test_a_content_without_parts_is_refused() -> None:
    with pytest.raises(ApiError, match=r"contents\[0\]\.parts: contents\.parts must not be empty"):
        messages(("user", []))
