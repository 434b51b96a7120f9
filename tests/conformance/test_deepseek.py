"""DeepSeek's part of the checks of shared/reference/dialects.md §8, by their numbers.

Its clients are OpenAI's official SDK with another base URL: the bare host, or `/v1`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from tests.conformance.served import Clock, load, serving
from tests.server.conftest import Live

ALIAS = "deepseek-chat"
BARE, V1 = "", "/v1"


@pytest.fixture(scope="module")
def live(tiny_checkpoint: Callable[..., Path]) -> Iterator[Live]:
    model = load(tiny_checkpoint("llama"))
    with serving(model, Clock(), aliases=(("deepseek", ALIAS),)) as served:
        yield served


def client(live: Live, base: str, key: str = "x") -> openai.OpenAI:
    return openai.OpenAI(
        base_url=live.url + base,
        api_key=key,
        max_retries=0,
        _strict_response_validation=True,
    )


def ask(live: Live, base: str, messages: Any, **fields: Any) -> Any:
    options = {"model": ALIAS, "messages": messages, "temperature": 0, "max_tokens": 100}
    return client(live, base).chat.completions.create(**options | fields)


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def account(usage: Any) -> tuple[int, int, int]:
    """(prompt, hit, cached); it adds up."""
    hit = usage.model_extra["prompt_cache_hit_tokens"]
    assert hit + usage.model_extra["prompt_cache_miss_tokens"] == usage.prompt_tokens
    return usage.prompt_tokens, hit, usage.prompt_tokens_details.cached_tokens


@pytest.mark.parametrize("base", [BARE, V1])
def test_check_01_a_plain_call_parses_strictly(live: Live, base: str) -> None:
    answer = ask(live, base, [user("Hello")])
    assert answer.choices[0].message.content


@pytest.mark.parametrize("base", [BARE, V1])
def test_check_02_a_streams_deltas_are_the_whole_text(live: Live, base: str) -> None:
    whole = ask(live, base, [user("Tell me.")])
    chunks = list(ask(live, base, [user("Tell me.")], stream=True))
    text = "".join(c.choices[0].delta.content or "" for c in chunks)
    assert text == whole.choices[0].message.content


def test_check_03_models_are_listed_under_the_bare_host(live: Live) -> None:
    assert ALIAS in [model.id for model in client(live, BARE).models.list()]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("base", [BARE, V1])
def test_check_57_hits_and_misses_are_the_prompt_in_units_of_64(
    live: Live, base: str, stream: bool
) -> None:
    messages = [user(f"c57 {base} {stream} " + "~" * 300)]
    fields: dict[str, Any] = {}
    if stream:
        fields = {"stream": True, "stream_options": {"include_usage": True}}
    for hits in (False, True):
        answer = ask(live, base, messages, **fields)
        usage = list(answer)[-1].usage if stream else answer.usage
        prompt, hit, cached = account(usage)
        assert cached == hit == (prompt - 1) // 64 * 64 * hits


def test_check_57_the_answer_can_be_read_in_the_next_turn(live: Live) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"enum": ["~" * 150]}}}
    question = user("c57 " + "~" * 100)
    first = ask(live, BARE, [question], response_format=schema, max_tokens=200)
    assert first.choices[0].finish_reason == "stop"
    answered = {"role": "assistant", "content": first.choices[0].message.content}
    _, hit, _ = account(ask(live, BARE, [question, answered, user("And?")]).usage)
    assert hit > first.usage.prompt_tokens + 100
    assert hit % 64 == 0


def test_check_57_the_servers_own_name_is_under_deepseeks_rules_on_its_path_alone(
    live: Live,
) -> None:
    own = ask(live, BARE, [user("Hello")], model="tiny").usage
    assert account(own)
    plain = ask(live, V1, [user("Hello")], model="tiny").usage
    assert "prompt_cache_hit_tokens" not in (plain.model_extra or {})


def test_check_61_misuse_is_the_sdks_typed_error(live: Live) -> None:
    with pytest.raises(openai.UnprocessableEntityError) as malformed:
        ask(live, BARE, [{"role": "user", "content": 5}])
    assert malformed.value.code == "invalid_request_error"
    assert malformed.value.param == "messages[0].content"
    assert malformed.value.request_id
    with pytest.raises(openai.BadRequestError) as unknown:
        ask(live, BARE, [user("x")], model="gpt-9")
    assert "Model Not Exist" in unknown.value.message
    with pytest.raises(openai.BadRequestError) as long:
        ask(live, BARE, [user("~" * 2000)])
    assert "maximum context length is 1024" in long.value.message


def test_check_64_what_the_ledger_is_told_is_what_was_reported(live: Live) -> None:
    """Hit and miss are read off one account, which the counters have too."""

    def counted(kind: str) -> int:
        lines = live.get("/metrics").text.splitlines()
        mine = (each for each in lines if each.startswith("headstart_account_tokens_total{"))
        chosen = (each for each in mine if f'kind="{kind}"' in each and f'"{ALIAS}"' in each)
        return sum(int(float(each.rsplit(" ", 1)[1])) for each in chosen)

    before = counted("read"), counted("fresh")
    prompt, hit, _ = account(ask(live, BARE, [user("c64 " + "~" * 200)] * 2).usage)
    again, more, _ = account(ask(live, BARE, [user("c64 " + "~" * 200)] * 2).usage)
    assert counted("read") - before[0] == hit + more
    assert counted("fresh") - before[1] == prompt - hit + again - more
