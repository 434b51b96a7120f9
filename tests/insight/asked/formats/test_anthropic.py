import base64

import pytest

from headstart.contracts.prompt import Mark
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.formats.anthropic import read
from headstart.insight.asked.read import read as read_request


def user(*blocks: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": list(blocks)}]}


def picture(data: str) -> dict[str, object]:
    source = {"type": "base64", "media_type": "image/png", "data": data}
    return {"type": "image", "source": source}


def test_tools_come_before_the_system_prompt_and_that_before_messages() -> None:
    body = {
        "messages": [{"role": "user", "content": "c"}],
        "system": "b",
        "tools": [{"name": "a", "input_schema": {}}],
    }
    assert [piece.kind for piece in read(body).pieces] == ["tool", "system", "user"]


def test_a_marker_that_moves_changes_no_digest() -> None:
    def bodies(first: bool) -> dict[str, object]:
        mark = {"cache_control": {"type": "ephemeral"}}
        block = {"type": "text", "text": "a"} | (mark if first else {})
        tool = {"name": "t", "input_schema": {}} | ({} if first else mark)
        return user(block) | {"tools": [tool]}

    one, other = read(bodies(True)).pieces, read(bodies(False)).pieces
    assert [piece.digest for piece in one] == [piece.digest for piece in other]
    assert [piece.mark for piece in one] == [None, Mark()]
    assert [piece.mark for piece in other] == [Mark(), None]


def test_a_text_and_a_list_with_one_text_say_the_same() -> None:
    (as_text,) = read({"messages": [{"role": "user", "content": "a"}]}).pieces
    (as_list,) = read(user({"type": "text", "text": "a"})).pieces
    assert as_text.digest == as_list.digest
    assert as_text.pointer == "/messages/0/content"
    assert as_list.pointer == "/messages/0/content/0"


@pytest.mark.parametrize(
    ("provider", "shown"),
    [("", False), ("anthropic", False), ("vllm", False), ("headstart", False), ("sglang", True)],
)
def test_claude_codes_own_line_is_a_piece_where_a_server_reads_it_as_text(
    provider: str, shown: bool
) -> None:
    line = "x-anthropic-billing-header: cc_version=2.1.177.01c; cch=36ee5;"
    blocks = [{"type": "text", "text": text} for text in (line, "Be brief.")]
    body = {"system": blocks, "messages": [], "tools": [{"name": "a", "input_schema": {}}]}
    _, *system = read_request(body, Signs(provider)).pieces
    assert [piece.text for piece in system] == [*([line] if shown else []), "Be brief."]
    assert system[-1].pointer == "/system/1"


def test_pictures_are_equal_where_their_bytes_are() -> None:
    data = base64.b64encode(bytes(range(256))).decode()
    wrapped = data[:76] + "\n" + data[76:]
    (one,), (other,) = read(user(picture(data))).pieces, read(user(picture(wrapped))).pieces
    assert one.digest == other.digest
    assert one.media == "image"
    assert data not in one.text
    (changed,) = read(user(picture("AAAA" + data[4:]))).pieces
    assert changed.digest != one.digest


def test_a_picture_elsewhere_is_its_url() -> None:
    block = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    contents = read(user(block))
    assert contents.pieces[0].text == "https://example.com/a.png"
    assert contents.settings["images"] == "true"


def test_a_document_of_bytes_is_a_file_and_one_of_text_is_text() -> None:
    pdf = {"type": "document", "source": {"type": "base64", "data": "JVBERi0="}}
    plain = {"type": "document", "title": "t", "source": {"type": "text", "data": "d"}}
    first, second = read(user(pdf, plain)).pieces
    assert (first.media, second.media, second.text) == ("file", "", "t\nd")


def test_web_search_counts_to_the_system_prompt() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    body = {"tools": [search, {"name": "a", "input_schema": {}}], "system": "s", "messages": []}
    contents = read(body)
    assert [(piece.kind, piece.name) for piece in contents.pieces] == [
        ("tool", "a"),
        ("system", "web_search"),
        ("system", ""),
    ]
    assert contents.settings["web_search"] == "true"


def test_citations_are_a_setting() -> None:
    document = {"type": "document", "source": {"type": "text", "data": "d"}}
    assert read(user(document)).settings == {}
    cited = read(user(document | {"citations": {"enabled": True}}))
    assert cited.settings == {"citations": "true"}


def test_thinking_can_carry_no_mark() -> None:
    body = {
        "messages": [{"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]}]
    }
    (piece,) = read(body).pieces
    assert (piece.kind, piece.markable, piece.text) == ("thinking", False, "x")


def test_blocks_that_nobody_knows_are_their_json() -> None:
    block = {"type": "server_tool_use", "name": "web_search", "input": {"q": 1}}
    piece, number = read(user(block, 7)).pieces
    assert (piece.kind, piece.name, piece.json) == ("tool_use", "web_search", True)
    assert '"q": 1' in piece.text
    assert number.text == "7"


def test_a_call_with_another_id_differs() -> None:
    def call(id: str) -> bytes:
        block = {"type": "tool_use", "id": id, "name": "t", "input": {}}
        return read(user(block)).pieces[0].digest

    assert call("a") != call("b")


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"messages": 3}, "messages: expected a list, got a number"),
        ({"messages": ["x"]}, r"messages\[0\]: expected an object, got a text"),
        ({"messages": [{"content": "x"}]}, r"messages\[0\].role: expected a text, got null"),
        ({"messages": [{"role": "user", "content": 3}]}, r"messages\[0\].content: expected a text"),
        ({"messages": [], "system": True}, "system: expected a text or a list, got a boolean"),
        ({"messages": [], "tools": {}}, "tools: expected a list, got an object"),
        ({"messages": [], "tools": [None]}, r"tools\[0\]: expected an object, got null"),
    ],
)
def test_what_cannot_be_read_is_named_by_its_place(body: dict[str, object], place: str) -> None:
    with pytest.raises(Unreadable, match=place):
        read(body)
