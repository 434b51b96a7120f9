"""OTLP JSON after opentelemetry.io's protocol and the GenAI conventions."""

import json
from pathlib import Path
from typing import Any

import pytest

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.source import read_file
from headstart.ledger import Account

NEW: dict[str, Any] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-sonnet-4-5",
    "gen_ai.response.model": "claude-sonnet-4-5-20250929",
    "gen_ai.conversation.id": "conv-1",
    "gen_ai.usage.input_tokens": 1250,
    "gen_ai.usage.output_tokens": 10,
    "gen_ai.usage.cache_read.input_tokens": 1000,
    "gen_ai.usage.cache_creation.input_tokens": 200,
}
OLD: dict[str, Any] = {
    "gen_ai.system": "openai",
    "gen_ai.request.model": "gpt-5.4",
    "gen_ai.usage.prompt_tokens": 1500,
    "gen_ai.usage.completion_tokens": 3,
    "gen_ai.usage.cache_read_input_tokens": 1408,
}
OPENINFERENCE: dict[str, Any] = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "gpt-5.4",
    "llm.token_count.prompt": 1500,
    "llm.token_count.completion": 3,
    "llm.token_count.prompt_details.cache_read": 1408,
}


def span(id: str, parent: str = "", **attributes: Any) -> dict[str, Any]:
    return {
        "traceId": "t1",
        "spanId": id,
        "parentSpanId": parent,
        "startTimeUnixNano": "1790000000500000000",
        "attributes": [
            {
                "key": key,
                "value": {"intValue": str(value)}
                if isinstance(value, int)
                else {"stringValue": value},
            }
            for key, value in attributes.items()
        ],
    }


def found(tmp_path: Path, *spans: dict[str, Any]) -> list[Asked]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "bot"}}]}
    export = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(export) + "\n")
    return list(read_file(path))


def test_input_tokens_include_what_was_read_and_written(tmp_path: Path) -> None:
    (asked,) = found(tmp_path, span("a", **NEW))
    assert asked.account == Account(1250, 1000, 10, {"5m": 200})
    assert (asked.vendor, asked.model) == ("anthropic", "claude-sonnet-4-5-20250929")
    assert (asked.id, asked.session, asked.route, asked.time) == (
        "a",
        "conv-1",
        "bot",
        1790000000.5,
    )


@pytest.mark.parametrize("attributes", [OLD, OPENINFERENCE], ids=["old", "openinference"])
def test_older_and_other_names_say_the_same(tmp_path: Path, attributes: Any) -> None:
    (asked,) = found(tmp_path, span("a", **attributes))
    assert asked.account == Account(1500, 1408, 3)
    assert (asked.vendor, asked.session) == ("openai", "t1")


def test_an_agents_span_does_not_count_its_calls_again(tmp_path: Path) -> None:
    agent = NEW | {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 9999}
    spans = [span("agent", **agent), span("a", "agent", **NEW), span("b", "agent", **NEW)]
    assert [asked.id for asked in found(tmp_path, *spans)] == ["a", "b"]


def test_a_call_that_two_instrumentations_saw_counts_once(tmp_path: Path) -> None:
    spans = [span("outer", **NEW), span("middle", "outer"), span("inner", "middle", **NEW)]
    assert [asked.id for asked in found(tmp_path, *spans)] == ["inner"]


def test_spans_that_name_each_other_as_parents_end(tmp_path: Path) -> None:
    assert found(tmp_path, span("a", "b", **NEW), span("b", "a", **NEW)) == []
