"""The shortest call of each API, and what its counters say: bodies and samples of dialects.md."""

import json
from typing import Any

import msgspec
import pytest

from headstart.insight.warm.dialects import DIALECTS
from headstart.insight.warm.dialects.dialect import Call, Heard, Target
from headstart.ledger import Account, Rules

RULES = Rules.packaged()
MARK = {"cache_control": {"type": "ephemeral"}}
MESSAGES = {"messages": [{"role": "user", "content": "q"}]}
CLAUDE = {"max_tokens": 9, "stream": True, "system": [{"type": "text", "text": "s", **MARK}]}


def target(vendor: str, model: str, body: dict[str, Any], **more: Any) -> Target:
    profile = RULES.profile(vendor, model)
    name = more.pop("lifetime", profile.default_lifetime)
    return Target(model, body, profile, name, 300.0, 285.0, more.pop("resource", None))


def call(dialect: str, aim: Target, last: Heard | None = None) -> Call:
    return DIALECTS[dialect].call(aim, last)


def heard(dialect: str, aim: Target, answer: Any, last: Heard | None = None) -> Heard:
    return DIALECTS[dialect].heard(json.dumps(answer).encode(), aim, last, 1000.0)


def test_anthropic_is_asked_for_no_tokens_and_no_stream() -> None:
    sent = call("anthropic", target("anthropic", "claude-opus-5", CLAUDE | MESSAGES))
    assert (sent.method, sent.path) == ("POST", "/v1/messages")
    assert sent.body == {
        "model": "claude-opus-5",
        "max_tokens": 0,
        "system": CLAUDE["system"],
        **MESSAGES,
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"tool_choice": {"type": "any"}},
        {"tool_choice": {"type": "tool", "name": "f"}},
        {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
    ],
)
def test_anthropic_refuses_no_tokens_with_some_settings_so_one_is_asked(
    settings: dict[str, Any],
) -> None:
    sent = call("anthropic", target("anthropic", "claude-opus-5", CLAUDE | MESSAGES | settings))
    assert sent.body is not None
    assert sent.body["max_tokens"] == 1
    assert settings.items() <= sent.body.items(), "they are part of the cache's key"


def test_a_body_without_marks_or_with_thinking_is_a_problem_for_anthropic() -> None:
    dialect = DIALECTS["anthropic"]
    assert dialect.problem(CLAUDE | MESSAGES, None) is None
    assert dialect.problem(MESSAGES, None) == "it has no cache_control, so nothing of it is cached"
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    assert "thinking" in (dialect.problem(CLAUDE | thinking, None) or "")
    assert dialect.problem(MESSAGES | MARK, None) is None, "the automatic mark"


def test_anthropics_lifetimes_are_those_of_its_marks() -> None:
    hour = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    body = {"tools": [{"name": "f", **hour}], "system": [{"type": "text", "text": "s", **MARK}]}
    assert set(DIALECTS["anthropic"].lifetimes(body)) == {"5m", "1h"}


def test_anthropics_counters_exclude_what_was_cached() -> None:
    usage = {
        "input_tokens": 12,
        "cache_creation_input_tokens": 30,
        "cache_read_input_tokens": 2036,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        "output_tokens": 3,
    }
    got = heard("anthropic", target("anthropic", "claude-opus-5", CLAUDE), {"usage": usage})
    assert got.account == Account(2078, 2036, 3, {"5m": 10, "1h": 20})
    assert (got.account.fresh, got.found, got.kept) == (12, 2036, 2066)


def test_an_older_answer_of_anthropic_has_no_split() -> None:
    usage = {"input_tokens": 1, "output_tokens": 0, "cache_creation_input_tokens": 9}
    aim = target("anthropic", "claude-opus-5", CLAUDE, lifetime="1h")
    got = heard("anthropic", aim, {"usage": usage})
    assert got.account.written == {"1h": 9}
    assert got.found is None


def test_responses_are_prewarmed_beside_what_the_body_asks_of_the_cache() -> None:
    body = {"input": "q", "stream": True, "prompt_cache_options": {"mode": "explicit"}}
    sent = call("openai-responses", target("openai", "gpt-5.6", body))
    assert sent.path == "/responses"
    assert sent.body == {
        "model": "gpt-5.6",
        "input": "q",
        "store": False,
        "prompt_cache_options": {"mode": "explicit", "prewarm": True},
    }


def test_models_without_breakpoints_are_asked_for_the_shortest_answer() -> None:
    body = {"input": "q", "max_output_tokens": 900}
    sent = call("openai-responses", target("openai", "gpt-5", body))
    assert sent.body == {"model": "gpt-5", "input": "q", "store": False, "max_output_tokens": 16}


def test_responses_counters_include_what_was_cached() -> None:
    details = {
        "cached_tokens": 1500,
        "cache_write_tokens": 548,
        "cache_write_tokens_details": {"ttl_30m_tokens": 548, "ttl_12h_tokens": 0},
    }
    usage = {"input_tokens": 2050, "output_tokens": 0, "input_tokens_details": details}
    got = heard("openai-responses", target("openai", "gpt-5.6", {}), {"usage": usage})
    assert got.account == Account(2050, 1500, 0, {"30m": 548, "12h": 0})
    assert (got.found, got.kept) == (1500, 2048)


@pytest.mark.parametrize(
    ("dialect", "given", "limit"),
    [
        ("openai-chat", {}, "max_completion_tokens"),
        ("openai-chat", {"max_tokens": 50}, "max_tokens"),
        ("openai-chat", {"max_completion_tokens": 50, "stream": True}, "max_completion_tokens"),
        ("deepseek", {"stream_options": {}}, "max_tokens"),
    ],
)
def test_a_chat_is_asked_for_one_token(dialect: str, given: dict[str, Any], limit: str) -> None:
    sent = call(dialect, target("openai", "gpt-5.6", MESSAGES | given))
    assert sent.path == "/chat/completions"
    assert sent.body == {"model": "gpt-5.6", **MESSAGES, limit: 1}


def test_a_chats_counters_tell_what_was_read_and_written() -> None:
    details = {"cached_tokens": 1920, "cache_write_tokens": 100}
    usage = {"prompt_tokens": 2048, "completion_tokens": 1, "prompt_tokens_details": details}
    got = heard("openai-chat", target("openai", "gpt-5.6", {}), {"usage": usage})
    assert got.account == Account(2048, 1920, 1, {"30m": 100})
    assert (got.found, got.kept) == (1920, 2020)


def test_what_a_server_does_not_tell_is_unknown_and_never_0() -> None:
    usage = {"prompt_tokens": 2048, "completion_tokens": 1}
    got = heard("openai-chat", target("openai", "gpt-5", {}), {"usage": usage})
    assert (got.found, got.kept) == (None, None)


def test_deepseeks_hits_are_found() -> None:
    usage = {
        "prompt_tokens": 128,
        "completion_tokens": 1,
        "prompt_cache_hit_tokens": 64,
        "prompt_cache_miss_tokens": 64,
    }
    got = heard("deepseek", target("deepseek", "deepseek-chat", {}), {"usage": usage})
    assert (got.account.read, got.found, got.kept) == (64, 64, None)


RESOURCE = {
    "name": "cachedContents/ez2yh6u6",
    "model": "models/local",
    "expireTime": "1970-01-01T00:21:40.023637828Z",
    "usageMetadata": {"totalTokenCount": 7021},
}
"""Ends at 1,300.02 s, to Google's nine digits."""


def test_a_cached_content_is_made_and_then_moved() -> None:
    aim = target("gemini", "gemini-2.5-flash", {"contents": []})
    made = call("gemini", aim)
    assert (made.method, made.path) == ("POST", "/v1beta/cachedContents")
    assert made.body == {"contents": [], "model": "models/gemini-2.5-flash", "ttl": "300s"}
    first = heard("gemini", aim, RESOURCE)
    assert (first.found, first.kept, first.resource) == (0, 7021, "cachedContents/ez2yh6u6")
    assert first.expires == pytest.approx(1300.023637)
    # Made at 1,000 s: 300 s of storage, and the input once.
    assert first.account.token_seconds == round(7021 * 300.023637)
    assert first.account.written == {"explicit": 7021}
    moved = call("gemini", aim, first)
    assert (moved.method, moved.path) == ("PATCH", "/v1beta/cachedContents/ez2yh6u6")
    assert moved.body == {"ttl": "300s"}
    later = heard("gemini", aim, RESOURCE | {"expireTime": "1970-01-01T00:26:40.023637Z"}, first)
    assert later.account == Account(0, 0, token_seconds=7021 * 300)
    assert later.found == 7021


def test_a_cached_content_that_exists_is_looked_at_before_it_is_moved() -> None:
    aim = target("gemini", "gemini-2.5-flash", {}, resource="cachedContents/x")
    looked = call("gemini", aim)
    assert looked == Call("GET", "/v1beta/cachedContents/x")
    assert heard("gemini", aim, RESOURCE).account == Account(0, 0)


def test_implicit_caching_takes_one_token_and_a_miss_has_no_counter() -> None:
    body = {"contents": [], "generation_config": {"temperature": 0, "max_output_tokens": 7}}
    aim = target("gemini", "gemini-2.5-flash", body)
    sent = call("gemini-generate", aim)
    assert sent.path == "/v1beta/models/gemini-2.5-flash:generateContent"
    assert sent.body == body | {"generation_config": {"temperature": 0, "max_output_tokens": 1}}
    usage = {"promptTokenCount": 7036, "candidatesTokenCount": 1, "totalTokenCount": 7037}
    assert heard("gemini-generate", aim, {"usageMetadata": usage}).found == 0
    usage["cachedContentTokenCount"] = 4079
    assert heard("gemini-generate", aim, {"usageMetadata": usage}).found == 4079


def test_our_server_is_told_how_long_to_pin() -> None:
    aim = target("engine", "tiny", MESSAGES, lifetime=None)
    sent = call("headstart", aim)
    assert sent.path == "/cache/warm"
    assert sent.body == {"model": "tiny", **MESSAGES, "ttl": 300.0}
    answer = {"prompts": [{"prompt_tokens": 40, "cached_tokens": 39, "pin": None}]}
    assert heard("headstart", aim, answer).account == Account(40, 39)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("answer", [{}, [], {"usage": None}, {"prompts": []}, "x"])
def test_an_answer_without_counters_is_refused(dialect: str, answer: Any) -> None:
    aim = target("openai", "gpt-5.6", {"x": 1})
    with pytest.raises(msgspec.MsgspecError):
        heard(dialect, aim, answer)


@pytest.mark.parametrize(
    ("dialect", "header"),
    [
        ("anthropic", ("x-api-key", "k")),
        ("openai-chat", ("Authorization", "Bearer k")),
        ("gemini", ("x-goog-api-key", "k")),
        ("gemini-generate", ("x-goog-api-key", "k")),
        ("headstart", ("Authorization", "Bearer k")),
    ],
)
def test_each_api_gets_its_key_in_its_own_header(dialect: str, header: tuple[str, str]) -> None:
    assert header in DIALECTS[dialect].headers("k").items()
    assert "k" not in DIALECTS[dialect].headers(None).values()


@pytest.mark.parametrize("dialect", sorted({*DIALECTS} - {"gemini", "anthropic"}))
def test_a_prompt_without_a_body_is_a_problem(dialect: str) -> None:
    assert DIALECTS[dialect].problem({}, None) == "it has no body"


def test_a_cached_content_is_named_or_made_not_both() -> None:
    problem = DIALECTS["gemini"].problem
    assert problem({}, None)
    assert problem({"contents": []}, "cachedContents/x")
    assert problem({}, "cachedContents/x") is None
