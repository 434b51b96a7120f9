"""Langfuse's exports. Numbers of the double counts are those of its issues #10592 and #12306."""

import json
from pathlib import Path
from typing import Any

import pytest

from headstart.insight.asked.files.langfuse import to_account
from headstart.insight.asked.source import read_file
from headstart.ledger import Account

OBSERVATION: dict[str, Any] = {
    "id": "obs-1",
    "traceId": "trace-1",
    "type": "GENERATION",
    "startTime": "2026-11-30T09:00:00.000Z",
    "model": "claude-sonnet-4-5",
    "modelParameters": {"max_tokens": 10},
    "input": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}],
    "usage": {"input": 1205, "output": 4, "total": 1209, "unit": "TOKENS"},
    "usageDetails": {
        "input": 5,
        "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 200,
        "output": 4,
        "total": 1209,
    },
}
SPAN: dict[str, Any] = {"id": "obs-0", "traceId": "trace-1", "type": "SPAN", "startTime": "x"}


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (OBSERVATION["usageDetails"], Account(1205, 1000, 4, {"5m": 200})),
        # Old names: nothing is known of caching.
        ({"input": 100, "output": 7, "total": 107, "unit": "TOKENS"}, Account(100, 0, 7)),
        ({"promptTokens": 100, "completionTokens": 7, "totalTokens": 107}, Account(100, 0, 7)),
        # The SDK for OpenAI in TypeScript left the cached ones in `input`: #10592.
        (
            {"input": 17_903, "input_cached_tokens": 17_817, "output": 97, "total": 18_000},
            Account(17_903, 17_817, 97),
        ),
        # The one in Python takes them out.
        (
            {"input": 86, "input_cached_tokens": 17_817, "output": 97, "total": 18_000},
            Account(17_903, 17_817, 97),
        ),
        # OpenTelemetry's inclusive input beside its parts: #12306.
        (
            {
                "input": 130_213,
                "output": 87,
                "total": 130_300,
                "cache_read_input_tokens": 128_955,
                "cache_creation_input_tokens": 1_253,
            },
            Account(130_213, 128_955, 87, {"5m": 1_253}),
        ),
        # One thing under two names is one thing.
        (
            {
                "input": 86,
                "input_cached_tokens": 500,
                "cache_read_input_tokens": 500,
                "output": 1,
            },
            Account(586, 500, 1),
        ),
        # No total: as Langfuse means it, the types are disjoint.
        ({"input": 900, "input_cache_read": 500, "output": 1}, Account(1400, 500, 1)),
        # LangChain's split of writes by lifetime.
        (
            {
                "input": 10,
                "input_cache_read": 0,
                "input_cache_creation": 300,
                "input_ephemeral_1h_input_tokens": 100,
                "output": 2,
            },
            Account(310, 0, 2, {"5m": 200, "1h": 100}),
        ),
    ],
)
def test_usage_types_become_one_account(usage: Any, told: Account) -> None:
    assert to_account(usage) == told


def test_what_has_no_input_has_no_account() -> None:
    assert to_account({"unit": "CHARACTERS"}) is None


@pytest.mark.parametrize("form", ["lines", "list", "page", "trace", "snake"])
def test_every_form_of_export_gives_the_generations(tmp_path: Path, form: str) -> None:
    snake = {
        "id": "obs-1",
        "trace_id": "trace-1",
        "type": "GENERATION",
        "start_time": "2026-11-30T09:00:00Z",
        "provided_model_name": "claude-sonnet-4-5",
        "input": json.dumps(OBSERVATION["input"]),
        "usage_details": OBSERVATION["usageDetails"],
    }
    forms: dict[str, Any] = {
        "lines": f"{json.dumps(SPAN)}\n{json.dumps(OBSERVATION)}\n",
        "list": json.dumps([SPAN, OBSERVATION], indent=1),
        "page": json.dumps({"data": [SPAN, OBSERVATION], "meta": {"page": 1}}),
        "trace": json.dumps({"id": "trace-1", "observations": [SPAN, OBSERVATION]}),
        "snake": f"{json.dumps(snake)}\n",
    }
    path = tmp_path / "export.json"
    path.write_text(forms[form])
    (asked,) = read_file(path)
    assert (asked.id, asked.session, asked.model) == ("obs-1", "trace-1", "claude-sonnet-4-5")
    assert asked.time == 1_796_029_200.0
    assert asked.account == Account(1205, 1000, 4, {"5m": 200})
    assert [piece.text for piece in asked.pieces] == ["s", "q"]


def test_a_traces_session_goes_before_its_own_id(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"id": "t", "sessionId": "chat-7", "observations": [OBSERVATION]}))
    (asked,) = read_file(path)
    assert asked.session == "chat-7"


def test_an_input_that_is_no_request_leaves_the_usage(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    path.write_text(json.dumps(OBSERVATION | {"input": "a question"}))
    (asked,) = read_file(path)
    assert not asked.has_body
    assert asked.account is not None
