"""Batches and their results. The lines are written after the vendors' documents."""

import json
from pathlib import Path
from typing import Any

from headstart.insight.asked.source import read_file, read_requests
from headstart.ledger import Account


def chat_input(number: int) -> dict[str, Any]:
    return {
        "custom_id": f"request-{number}",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "gpt-5.4", "messages": [{"role": "user", "content": f"q{number}"}]},
    }


def chat_output(number: int, cached: int = 1024) -> dict[str, Any]:
    return {
        "id": f"batch_req_{number}",
        "custom_id": f"request-{number}",
        "response": {
            "status_code": 200,
            "request_id": "req_1",
            "body": {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "model": "gpt-5.4-2026-03-05",
                "choices": [],
                "usage": {
                    "prompt_tokens": 2000 + number,
                    "completion_tokens": 9,
                    "total_tokens": 2009 + number,
                    "prompt_tokens_details": {"cached_tokens": cached},
                },
            },
        },
        "error": None,
    }


FAILED = {
    "id": "batch_req_9",
    "custom_id": "request-9",
    "response": None,
    "error": {"code": "batch_expired", "message": "This request could not be executed."},
}


def lines(path: Path, *values: Any) -> str:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return str(path)


def test_openais_output_alone_is_usage_without_bodies(tmp_path: Path) -> None:
    path = lines(tmp_path / "out.jsonl", FAILED, chat_output(2), chat_output(1))
    found = list(read_requests([path]))
    assert [(each.id, each.model, each.has_body) for each in found] == [
        ("request-2", "gpt-5.4-2026-03-05", False),
        ("request-1", "gpt-5.4-2026-03-05", False),
    ]
    assert found[0].account == Account(2002, 1024, 9)
    assert found[0].tier == "batch"


def test_openais_output_finds_its_input_whichever_file_comes_first(tmp_path: Path) -> None:
    asked = lines(tmp_path / "in.jsonl", chat_input(1), chat_input(2), chat_input(9))
    output = lines(tmp_path / "out.jsonl", chat_output(2), chat_output(1), FAILED)
    for places in ([asked, output], [output, asked], [str(tmp_path)]):
        found = {each.id: each for each in read_requests(places)}
        assert len(found) == 3
        assert found["request-1"].account == Account(2001, 1024, 9)
        assert found["request-2"].account == Account(2002, 1024, 9)
        assert found["request-1"].pieces[0].text == "q1"
        assert found["request-9"].account is None


def test_ids_that_two_batches_share_go_in_their_order(tmp_path: Path) -> None:
    places = [
        lines(tmp_path / "1-in.jsonl", chat_input(1)),
        lines(tmp_path / "1-out.jsonl", chat_output(1, cached=0)),
        lines(tmp_path / "2-in.jsonl", chat_input(1)),
        lines(tmp_path / "2-out.jsonl", chat_output(1, cached=1920)),
    ]
    assert [each.account for each in read_requests(places)] == [
        Account(2001, 0, 9),
        Account(2001, 1920, 9),
    ]


def test_an_answer_without_its_request_is_not_lost(tmp_path: Path) -> None:
    places = [
        lines(tmp_path / "in.jsonl", chat_input(1)),
        lines(tmp_path / "out.jsonl", chat_output(1), chat_output(5)),
    ]
    assert [each.id for each in read_requests(places)] == ["request-1", "request-5"]


MESSAGES: dict[str, Any] = {
    "requests": [
        {
            "custom_id": f"m{number}",
            "params": {
                "model": "claude-sonnet-4-5",
                "max_tokens": 10,
                "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
                "messages": [{"role": "user", "content": f"q{number}"}],
            },
        }
        for number in (1, 2)
    ]
}
SUCCEEDED: dict[str, Any] = {
    "custom_id": "m2",
    "result": {
        "type": "succeeded",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [{"type": "text", "text": "a"}],
            "usage": {
                "input_tokens": 11,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 1500,
                "output_tokens": 3,
            },
        },
    },
}
EXPIRED: dict[str, Any] = {"custom_id": "m1", "result": {"type": "expired"}}


def test_anthropics_batch_is_its_params(tmp_path: Path) -> None:
    path = tmp_path / "batch.json"
    path.write_text(json.dumps(MESSAGES, indent=1))
    found = list(read_file(path))
    assert [(each.id, each.format, each.vendor) for each in found] == [
        ("m1", "anthropic", "anthropic"),
        ("m2", "anthropic", "anthropic"),
    ]
    assert [str(each.origin) for each in found] == [f"{path}:1", f"{path}:2"]
    assert found[1].pieces[0].mark is not None


def test_anthropics_results_find_their_params(tmp_path: Path) -> None:
    asked = lines(tmp_path / "in.jsonl", *MESSAGES["requests"])
    results = lines(tmp_path / "results.jsonl", EXPIRED, SUCCEEDED)
    first, second = read_requests([results, asked])
    assert first.account is None
    assert second.account == Account(1511, 1500, 3)
    assert second.pieces[-1].text == "q2"


def test_anthropics_results_alone_name_the_model_and_the_vendor(tmp_path: Path) -> None:
    (found,) = read_requests([lines(tmp_path / "results.jsonl", EXPIRED, SUCCEEDED)])
    assert (found.vendor, found.model, found.has_body) == (
        "anthropic",
        "claude-sonnet-4-5-20250929",
        False,
    )
