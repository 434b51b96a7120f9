"""One account, told in the shape of each vendor."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from headstart.dialects.anthropic.usage import render_usage as anthropic
from headstart.dialects.gemini.usage import render_usage as gemini
from headstart.dialects.openai.responses.usage import response_usage as responses
from headstart.dialects.openai.usage import render_hits_and_misses as deepseek
from headstart.dialects.openai.usage import render_usage as openai
from headstart.dialects.written import by_class
from headstart.ledger import Lifetime, Rules
from headstart.ledger.account import Account

RULES = Rules.packaged()
LIFETIMES: Mapping[str, Lifetime] = {
    name: lifetime
    for vendor, model in (("anthropic", "claude-opus-5"), ("openai", "gpt-5.6"))
    for name, lifetime in RULES.profile(vendor, model).lifetimes.items()
}
"""All that any contract bills as written under its name, by rules.toml."""


@pytest.mark.parametrize(
    ("fresh", "read", "written"), [(50, 100_000, 0), (8, 0, 5120), (0, 1800, 248), (7, 0, 0)]
)
def test_acct_01_what_is_apart_at_anthropic_is_a_part_of_the_prompt_elsewhere(
    fresh: int, read: int, written: int
) -> None:
    prompt = fresh + read + written
    account = Account(prompt, read, 3, {"5m": written})
    told = anthropic(account)
    assert told["input_tokens"] == fresh
    assert told["cache_read_input_tokens"] == read
    assert told["cache_creation_input_tokens"] == written
    for usage in (openai(account), deepseek(account)):
        assert usage["prompt_tokens"] == prompt
        assert usage["prompt_tokens_details"]["cached_tokens"] == read
        assert usage["total_tokens"] == prompt + 3
    assert openai(account)["prompt_tokens_details"]["cache_write_tokens"] == written
    told = responses(account)
    assert told["input_tokens"] == prompt
    assert told["input_tokens_details"]["cached_tokens"] == read
    assert told["total_tokens"] == prompt + 3
    told = gemini(account)
    assert told["promptTokenCount"] == prompt
    assert told.get("cachedContentTokenCount", 0) == read
    assert told["totalTokenCount"] == prompt + 3


def classes(usage: Mapping[str, Any]) -> dict[str, int]:
    """The writes that a usage object tells by lifetime, if it does."""
    created = usage.get("cache_creation", {})
    details = usage.get("input_tokens_details", {}).get("cache_write_tokens_details", {})
    return {
        **{name.split("_")[1]: tokens for name, tokens in created.items()},
        **{name.split("_")[1]: tokens for name, tokens in details.items()},
    }


@pytest.mark.parametrize("render", [anthropic, responses])
@pytest.mark.parametrize("lifetimes", [*product(LIFETIMES, repeat=2), ("explicit", "5m")])
def test_no_write_is_told_as_a_cheaper_or_shorter_one_than_it_is(
    render: Any, lifetimes: tuple[str, str]
) -> None:
    """Whatever the model's contract, in every dialect that has classes of writes."""
    for lifetime in lifetimes:
        told = classes(render(Account(1000, 100, 3, {lifetime: 700})))
        assert sum(told.values()) == 700
        (shown,) = (LIFETIMES[name] for name, tokens in told.items() if tokens)
        known = [LIFETIMES[name] for name in told]
        if lifetime not in LIFETIMES:
            assert shown == max(known, key=lambda each: each.seconds)
            continue
        true = LIFETIMES[lifetime]
        for name in ("seconds", "write"):
            best = max(getattr(each, name) for each in known)
            assert getattr(shown, name) >= min(getattr(true, name), best)
        assert true not in known or shown == true
        assert not any(true.seconds <= each.seconds < shown.seconds for each in known)
    first, second = lifetimes
    both = {first: 200, second: 300} if first != second else {first: 500}
    usage = render(Account(1000, 100, 3, both))
    assert sum(classes(usage).values()) == 500
    assert classes(usage) == {
        name: sum(classes(render(Account(1000, 0, 0, {each: n})))[name] for each, n in both.items())
        for name in classes(usage)
    }


def test_what_ends_at_no_known_time_is_told_in_the_longest_class() -> None:
    odd = {"explicit": 1, "automatic": 2, "": 4, "h": 8, "1d": 16}
    assert by_class(odd, ("5m", "1h")) == {"5m": 0, "1h": 31}
    assert by_class({}, ("5m", "1h")) == {"5m": 0, "1h": 0}
