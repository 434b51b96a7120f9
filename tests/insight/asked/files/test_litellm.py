"""LiteLLM's logging payload, with the fields that its specification names."""

import json
from pathlib import Path
from typing import Any

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.source import read_file
from headstart.ledger import Account

PAYLOAD: dict[str, Any] = {
    "id": "chatcmpl-1",
    "trace_id": "trace-1",
    "call_type": "acompletion",
    "stream": True,
    "response_cost": 0.0021,
    "status": "success",
    "custom_llm_provider": "anthropic",
    "total_tokens": 1260,
    "prompt_tokens": 1250,
    "completion_tokens": 10,
    "startTime": 1790000000.5,
    "endTime": 1790000002.0,
    "completionStartTime": 1790000001.0,
    "model": "claude-sonnet-4-5",
    "model_id": "deployment-a",
    "model_group": "sonnet",
    "api_base": "https://api.anthropic.com/v1/messages",
    "cache_hit": None,
    "metadata": {
        "user_api_key_alias": "key-1",
        "user_api_key_team_alias": "team-a",
        "usage_object": {
            "prompt_tokens": 1250,
            "completion_tokens": 10,
            "total_tokens": 1260,
            "prompt_tokens_details": {"cached_tokens": 1000, "cache_creation_tokens": 200},
            "cache_creation_input_tokens": 200,
            "cache_read_input_tokens": 1000,
        },
    },
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "s"}]},
        {"role": "user", "content": "q"},
    ],
    "response": {"id": "chatcmpl-1", "choices": []},
    "model_parameters": {"max_tokens": 10, "tool_choice": "auto"},
}


def found(tmp_path: Path, *payloads: Any) -> list[Asked]:
    path = tmp_path / "litellm.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in payloads))
    return list(read_file(path))


def test_a_payload_is_a_request_with_its_usage(tmp_path: Path) -> None:
    (asked,) = found(tmp_path, PAYLOAD)
    assert asked.vendor == "anthropic"
    assert [piece.text for piece in asked.pieces] == ["s", "q"]
    assert (asked.id, asked.session, asked.tenant, asked.route) == (
        "chatcmpl-1",
        "trace-1",
        "team-a",
        "deployment-a",
    )
    assert (asked.time, asked.ttft) == (1790000000.5, 0.5)


def test_prompt_tokens_already_hold_what_was_cached(tmp_path: Path) -> None:
    """50 fresh, 1,000 read, 200 written: not 2,450 tokens of prompt."""
    (asked,) = found(tmp_path, PAYLOAD)
    assert asked.account == Account(1250, 1000, 10, {"5m": 200})
    assert asked.account.fresh == 50


def test_what_litellms_own_cache_answered_never_reached_the_vendor(tmp_path: Path) -> None:
    assert found(tmp_path, PAYLOAD | {"cache_hit": True}, PAYLOAD | {"status": "failure"}) == []


def test_redacted_messages_leave_the_usage(tmp_path: Path) -> None:
    (asked,) = found(tmp_path, PAYLOAD | {"messages": "redacted-by-litellm"})
    assert not asked.has_body
    assert asked.account == Account(1250, 1000, 10, {"5m": 200})


def test_without_details_the_sums_count_as_fresh(tmp_path: Path) -> None:
    (asked,) = found(tmp_path, PAYLOAD | {"metadata": {}})
    assert asked.account == Account(1250, 0, 10)


def test_the_wrapper_of_a_callback_is_opened(tmp_path: Path) -> None:
    (asked,) = found(tmp_path, {"kwargs": {"standard_logging_object": PAYLOAD}})
    assert asked.id == "chatcmpl-1"
