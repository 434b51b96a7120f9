"""One account, told in the shape of each vendor."""

import pytest

from headstart.dialects.anthropic.usage import render_usage as anthropic
from headstart.dialects.gemini.usage import render_usage as gemini
from headstart.dialects.openai.responses.usage import response_usage as responses
from headstart.dialects.openai.usage import render_hits_and_misses as deepseek
from headstart.dialects.openai.usage import render_usage as openai
from headstart.ledger.account import Account


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
