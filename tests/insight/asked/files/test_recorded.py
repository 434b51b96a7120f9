import json
from pathlib import Path
from typing import Any

import pytest

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.source import read_file
from headstart.ledger.account import Account

BODY: dict[str, Any] = {"model": "gpt-6-sol", "messages": [{"role": "user", "content": "a"}]}


def read(tmp_path: Path, *records: dict[str, Any]) -> list[Asked]:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return list(read_file(path))


def test_what_stands_beside_a_body_is_kept(tmp_path: Path) -> None:
    (asked,) = read(
        tmp_path,
        {
            "body": BODY,
            "path": "/v1/chat/completions",
            "time": 1700000000.5,
            "request_id": "r1",
            "tenant": "acme",
            "session": 7,
            "route": "replica-1",
            "usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}},
            "tokens": [1, 2, 3],
            "ttft": 0.25,
            "reason": "evicted",
        },
    )
    assert (asked.id, asked.tenant, asked.session, asked.route) == ("r1", "acme", "7", "replica-1")
    assert (asked.time, asked.ttft, asked.reason) == (1700000000.5, 0.25, "evicted")
    assert asked.account == Account(9, 4)
    assert asked.tokens == [1, 2, 3]


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        (12, 12.0),
        ("1970-01-01T00:00:12Z", 12.0),
        ("1970-01-01T00:00:12.500+00:00", 12.5),
        ("1970-01-01T01:00:12+01:00", 12.0),
        ("1970-01-01 00:00:12", 12.0),
        ("yesterday", None),
        (None, None),
        (True, None),
    ],
)
def test_times_are_seconds_or_iso_8601(tmp_path: Path, time: object, seconds: float | None) -> None:
    (asked,) = read(tmp_path, {"body": BODY, "timestamp": time})
    assert asked.time == seconds


def test_the_usage_of_a_whole_response_is_found(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 9}
    first, second = read(
        tmp_path,
        {"body": BODY, "response": {"usage": usage}},
        {"body": BODY, "response": {"id": "chatcmpl-1", "model": "gpt-6", "usage": usage}},
    )
    assert first.account == second.account == Account(9, 0)


def test_a_model_may_stand_beside_the_body_or_in_the_response(tmp_path: Path) -> None:
    body = {"messages": BODY["messages"]}
    first, second = read(
        tmp_path,
        {"body": body, "model": "deepseek-chat"},
        {"body": body, "response": {"model": "claude-opus-5"}},
    )
    assert (first.model, first.vendor) == ("deepseek-chat", "deepseek")
    assert second.model == "claude-opus-5"


def test_the_log_may_say_that_it_is_an_engine(tmp_path: Path) -> None:
    (asked,) = read(tmp_path, {"body": BODY, "vendor": "engine"})
    assert asked.vendor == "engine"


def test_a_body_may_be_a_text_of_json(tmp_path: Path) -> None:
    (asked,) = read(tmp_path, {"body": json.dumps(BODY)})
    assert asked.body == BODY
    with pytest.raises(Unreadable, match=r"log\.jsonl:1: body: not JSON"):
        read(tmp_path, {"body": "{"})


def test_a_batch_of_openais_is_read_with_its_ids(tmp_path: Path) -> None:
    batch = {"custom_id": "c1", "method": "POST", "url": "/v1/responses", "body": {"input": "a"}}
    (asked,) = read(tmp_path, batch)
    assert (asked.id, asked.format) == ("c1", "responses")


def test_several_prompts_have_one_account_that_is_none_of_theirs(tmp_path: Path) -> None:
    body = {"model": "m", "prompt": ["a", "b"]}
    *prompts, together = read(tmp_path, {"body": body, "id": "x", "usage": {"prompt_tokens": 9}})
    assert [(asked.pieces[0].text, asked.account, asked.id) for asked in prompts] == [
        ("a", None, "x"),
        ("b", None, "x"),
    ]
    assert (together.has_body, together.account, together.id) == (False, Account(9, 0), "x")
    assert len(list(read(tmp_path, {"body": body}))) == 2


def test_a_line_without_a_body_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"log\.jsonl:2: a request is an object, this is null"):
        read(tmp_path, {"body": BODY}, {"url": "/v1/messages"})
