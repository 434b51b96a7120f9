"""Accounts from usage objects. The right values are the vendors' definitions, by hand."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.dialects.anthropic.usage import render_usage as anthropic_usage
from headstart.dialects.gemini.usage import render_usage as gemini_usage
from headstart.dialects.openai.responses.usage import response_usage
from headstart.dialects.openai.usage import render_hits_and_misses
from headstart.dialects.openai.usage import render_usage as chat_usage
from headstart.insight.asked.usage import account, find, merged
from headstart.ledger.account import Account


def test_anthropics_input_leaves_out_what_was_read_and_written() -> None:
    """Peers took it for all of the prompt, and got a negative rest or a rate above 100 %."""
    usage = {
        "input_tokens": 50,
        "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 200,
        "output_tokens": 7,
    }
    assert account(usage) == Account(1250, 1000, 7, {"5m": 200})


def test_cache_creation_is_part_of_the_prompt() -> None:
    """A peer dropped it: its hit rate was 94.7 % instead of 85.7 %."""
    usage = {"input_tokens": 0, "cache_read_input_tokens": 600, "cache_creation_input_tokens": 100}
    told = account(usage)
    assert told is not None
    assert told.read / told.prompt == pytest.approx(0.857, abs=0.0005)


def test_writes_are_split_by_their_lifetimes() -> None:
    usage = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
    }
    assert account(usage) == Account(31, 0, 0, {"5m": 10, "1h": 20})
    alone = {"input_tokens": 1, "cache_creation": {"ephemeral_1h_input_tokens": 20}}
    assert account(alone) == Account(21, 0, 0, {"1h": 20})


def test_openais_input_includes_what_was_cached() -> None:
    chat = {
        "prompt_tokens": 1200,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 100},
    }
    assert account(chat) == Account(1200, 1024, 5, {"30m": 100})
    responses = {
        "input_tokens": 1200,
        "output_tokens": 5,
        "input_tokens_details": {
            "cached_tokens": 0,
            "cache_write_tokens": 1100,
            "cache_write_tokens_details": {"ttl_30m_tokens": 100, "ttl_12h_tokens": 1000},
        },
    }
    assert account(responses) == Account(1200, 0, 5, {"30m": 100, "12h": 1000})


@pytest.mark.parametrize("details", [None, {}, {"cached_tokens": None}, "gone"])
def test_cached_tokens_may_be_null_or_absent(details: object) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": details}
    assert account(usage) == Account(9, 0, 1)


def test_deepseeks_hits_and_misses() -> None:
    usage = {"prompt_tokens": 100, "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}
    assert account(usage) == Account(100, 64)


def test_gemini_counts_thoughts_as_output() -> None:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 4,
    }
    assert account(usage) == Account(100, 40, 7)
    snake = {"prompt_token_count": 100, "cached_content_token_count": None}
    assert account(snake) == Account(100, 0)


def test_bedrocks_input_leaves_out_what_was_read_and_written() -> None:
    usage = {
        "inputTokens": 5,
        "outputTokens": 2,
        "cacheReadInputTokens": 100,
        "cacheWriteInputTokens": 50,
        "cacheDetails": [{"ttl": "1h", "inputTokens": 20}, {"ttl": "5m", "inputTokens": 30}],
    }
    assert account(usage) == Account(155, 100, 2, {"5m": 30, "1h": 20})


def test_telemetrys_input_includes_what_was_cached() -> None:
    usage = {
        "gen_ai.usage.input_tokens": 155,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.usage.cache_read.input_tokens": 100,
        "gen_ai.usage.cache_creation.input_tokens": 50,
    }
    assert account(usage) == Account(155, 100, 2, {"5m": 50})
    old = {"gen_ai.usage.prompt_tokens": 9, "gen_ai.usage.completion_tokens": 1}
    assert account(old) == Account(9, 0, 1)


def test_a_gateways_prompt_tokens_include_anthropics_reads_and_writes() -> None:
    usage = {
        "prompt_tokens": 1250,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1000},
        "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 200,
    }
    assert account(usage) == Account(1250, 1000, 7, {"5m": 200})


def test_a_prompt_smaller_than_what_was_cached_leaves_it_out() -> None:
    usage = {"prompt_tokens": 50, "prompt_tokens_details": {"cached_tokens": 1000}}
    assert account(usage) == Account(1050, 1000)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        3,
        [],
        {},
        {"tokens": 3},
        {"prompt_tokens": "many"},
        {"prompt_tokens": -1},
        {"prompt_tokens": 1.5},
        {"prompt_tokens": True},
        {"total_tokens": 5},
    ],
)
def test_a_foreign_shape_is_no_account(usage: object) -> None:
    assert account(usage) is None


def test_a_stream_ends_with_the_counts_that_hold() -> None:
    start = {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 1}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": start}},
        {"type": "content_block_delta"},
        {"type": "message_delta", "usage": {"output_tokens": 42, "input_tokens": None}},
    ]
    assert account(find(events)) == Account(105, 100, 42)
    assert find([{"choices": []}, {"usage": None}]) is None
    assert merged([]) is None


def test_usage_is_found_where_vendors_put_it() -> None:
    usage = {"prompt_tokens": 1}
    assert find({"usage": usage}) == usage
    assert find({"body": {"usage": usage}}) == usage
    assert find({"type": "response.completed", "response": {"usage": usage}}) == usage
    assert find({"usageMetadata": usage}) == usage
    assert find("gone") is None


@st.composite
def accounts(draw: st.DrawFn, lifetimes: tuple[str, ...]) -> Account:
    tokens = st.integers(0, 1000)
    written = {name: count for name in lifetimes if (count := draw(tokens))}
    read, fresh = draw(tokens), draw(tokens)
    return Account(fresh + read + sum(written.values()), read, draw(tokens), written)


@given(accounts(("5m", "1h")))
def test_what_our_server_says_as_anthropic_comes_back(told: Account) -> None:
    assert account(anthropic_usage(told)) == told


@given(accounts(("30m", "12h")))
def test_what_our_server_says_as_responses_comes_back(told: Account) -> None:
    assert account(response_usage(told)) == told


@given(accounts(("30m",)))
def test_what_our_server_says_as_chat_comes_back(told: Account) -> None:
    assert account(chat_usage(told)) == told


@given(accounts(()))
def test_what_our_server_says_as_deepseek_and_gemini_comes_back(told: Account) -> None:
    assert account(render_hits_and_misses(told)) == told
    assert account(gemini_usage(told)) == told
