import pytest

from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.formats.responses import read


def test_thoughts_and_hosted_tools_are_their_json_in_the_models_turn() -> None:
    body = {
        "input": [
            {"role": "user", "content": "a"},
            {"type": "reasoning", "summary": [], "encrypted_content": "x"},
            {"type": "web_search_call", "id": "w"},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "computer_call_output", "output": {}},
        ]
    }
    pieces = read(body).pieces
    assert [(piece.kind, piece.message) for piece in pieces] == [
        ("user", 0),
        ("thinking", 1),
        ("tool_use", 1),
        ("tool_use", 1),
        ("tool_result", 2),
    ]
    assert not pieces[1].markable


def test_pictures_and_files_are_media() -> None:
    parts = [
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_image", "file_id": "file-1"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:a;base64,AAAA"},
    ]
    pieces = read({"input": [{"role": "user", "content": parts}]}).pieces
    assert [piece.media for piece in pieces] == ["image", "image", "file"]
    assert pieces[0].text == pieces[2].text
    assert pieces[1].text == "file-1"


def test_instructions_may_be_items() -> None:
    (piece,) = read({"instructions": [{"role": "developer", "content": "a"}]}).pieces
    assert (piece.kind, piece.address) == ("developer", ("instructions", 0, "content"))


def test_an_item_that_is_no_object_is_named() -> None:
    with pytest.raises(Unreadable, match=r"input\[0\]: expected an object, got a number"):
        read({"input": [1]})
    with pytest.raises(Unreadable, match=r"input: expected a text or a list, got an object"):
        read({"input": {}})
