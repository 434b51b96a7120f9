from headstart.contracts.prompt import Mark
from headstart.insight.asked.formats.converse import read

POINT = {"cachePoint": {"type": "default"}}


def test_a_cache_point_marks_the_block_before_it() -> None:
    body = {
        "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}, POINT]},
        "system": [{"text": "a"}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
        "messages": [{"role": "user", "content": [{"text": "b"}, POINT, {"text": "c"}]}],
    }
    pieces = read(body).pieces
    assert [(piece.kind, piece.mark) for piece in pieces] == [
        ("tool", Mark()),
        ("system", Mark("1h")),
        ("user", Mark()),
        ("user", None),
    ]
    assert pieces[0].name == "f"


def test_a_point_with_nothing_before_it_marks_nothing() -> None:
    assert (
        read({"messages": [{"role": "user", "content": [POINT, {"text": "a"}]}]}).pieces[0].mark
        is None
    )


def test_calls_results_thoughts_and_media_are_read() -> None:
    body = {
        "messages": [
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "hm"}}},
                    {"toolUse": {"toolUseId": "t", "name": "f", "input": {"x": 1}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": "t",
                            "content": [{"text": "1"}],
                            "status": "error",
                        }
                    },
                    {"image": {"format": "png", "source": {"bytes": "AAAA"}}},
                    {"document": {"format": "pdf", "name": "d", "source": {"bytes": "AAAA"}}},
                ],
            },
        ]
    }
    pieces = read(body).pieces
    assert [piece.kind for piece in pieces] == [
        "thinking",
        "tool_use",
        "tool_result",
        "tool_result",
        "user",
        "user",
    ]
    assert [piece.media for piece in pieces[-2:]] == ["image", "file"]
    assert pieces[-1].text == pieces[-2].text
