"""`POST /cache/warm`: prompts computed before anybody asks them."""

import re
from pathlib import Path
from typing import Any

import pytest

TOOLS: Any = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


def ids(seed: int, count: int) -> list[int]:
    return [3 + (seed * 37 + 13 * i + i * i) % 300 for i in range(count)]


def warm(live: Any, key: str = "anything", **body: Any) -> list[dict[str, Any]]:
    response = live.post("/cache/warm", key, **body)
    assert response.status_code == 200, response.text
    prompts = response.json()["prompts"]
    assert isinstance(prompts, list)
    return prompts


def refusal(live: Any, path: str = "/cache/warm", **body: Any) -> dict[str, Any]:
    response = live.post(path, **body)
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert isinstance(error, dict)
    return error


def test_warmed_messages_hit_to_the_last_token_but_one(live: Any, words: Any) -> None:
    messages = words("warm", 30)
    (told,) = warm(live, messages=messages, cache_salt="warm")
    usage = (
        live.client()
        .chat.completions.create(
            model="tiny", messages=messages, max_tokens=1, extra_body={"cache_salt": "warm"}
        )
        .usage
    )
    assert told == {"prompt_tokens": usage.prompt_tokens, "cached_tokens": 0, "pin": None}
    assert usage.prompt_tokens_details.cached_tokens == usage.prompt_tokens - 1


def test_warmed_tools_are_part_of_the_prompt(live: Any, words: Any) -> None:
    messages = words("tools", 20)
    (told,) = warm(live, messages=messages, tools=TOOLS)
    usage = (
        live.client()
        .chat.completions.create(model="tiny", messages=messages, tools=TOOLS, max_tokens=1)
        .usage
    )
    assert told["prompt_tokens"] == usage.prompt_tokens
    assert usage.prompt_tokens_details.cached_tokens == usage.prompt_tokens - 1


@pytest.mark.parametrize("count", [1, 2, 16, 17, 40])
def test_warmed_tokens_and_texts_hit_in_completions(live: Any, count: int) -> None:
    tokens = ids(count, count)
    text = live.codec.decode(ids(50 + count, count), skip_special=False)
    for prompt, body in ((tokens, {"tokens": tokens}), (text, {"prompt": text})):
        (told,) = warm(live, **body, cache_salt=f"forms {count}")
        usage = (
            live.client()
            .completions.create(
                model="tiny",
                prompt=prompt,
                max_tokens=1,
                extra_body={"cache_salt": f"forms {count}"},
            )
            .usage
        )
        assert told["prompt_tokens"] == usage.prompt_tokens
        cached = usage.prompt_tokens_details.cached_tokens
        assert cached == usage.prompt_tokens - 1


def test_many_prompts_are_answered_in_order_and_share_what_they_can(live: Any) -> None:
    shared = ids(200, 64)
    prompts = [[*shared, *ids(201 + n, 10 + n)] for n in range(5)]
    told = warm(live, prompts=[{"tokens": prompt} for prompt in prompts], cache_salt="many")
    assert [each["prompt_tokens"] for each in told] == [74, 75, 76, 77, 78]
    # One computes the shared beginning, the others wait for it.
    assert sorted(each["cached_tokens"] for each in told)[1:] == [64] * 4
    assert [
        each["cached_tokens"]
        for each in warm(live, prompts=[{"tokens": p} for p in prompts], cache_salt="many")
    ] == [73, 74, 75, 76, 77]


def test_a_salt_beside_the_list_is_that_of_every_prompt(live: Any) -> None:
    prompt = ids(210, 40)
    warm(live, prompts=[{"tokens": prompt}], cache_salt="beside")
    for salt, cached in ((None, 0), ("beside", 39)):
        found = live.post("/cache/lookup", tokens=prompt, cache_salt=salt).json()
        assert found["cached_tokens"] == cached


def test_with_a_ttl_it_pins_too(start_real: Any) -> None:
    live = start_real()
    told = warm(live, prompts=[{"tokens": ids(1, 40)}, {"tokens": ids(2, 33)}], ttl=60, priority=7)
    pins = live.get("/cache/pin").json()["pins"]
    assert [each["pin"]["id"] for each in told] == [pin["id"] for pin in pins]
    for pin, tokens in zip(pins, (40, 33), strict=True):
        assert (pin["tokens"], pin["priority"], pin["ttl"]) == (tokens, 7, 60)
        assert 50 < pin["expires_in"] <= 60


def test_warming_is_no_answer_in_reports_and_metrics(live: Any) -> None:
    def prompts() -> list[str]:
        return re.findall(r"^headstart_prompt.*", live.get("/metrics").text, re.MULTILINE)

    before = prompts()
    warm(live, tokens=ids(220, 40))
    assert prompts() == before


def test_a_tenant_warms_for_itself(start_real: Any, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("ka alice\nkb bob\n")
    live = start_real(api_keys_file=str(tmp_path / "keys"))
    prompt = ids(3, 40)
    warm(live, "ka", tokens=prompt)
    assert live.post("/cache/lookup", "ka", tokens=prompt).json()["cached_tokens"] == 39
    assert live.post("/cache/lookup", "kb", tokens=prompt).json()["cached_tokens"] == 0
    assert warm(live, "kb", tokens=prompt)[0]["cached_tokens"] == 0


def test_a_fault_in_a_list_is_named_with_its_place(live: Any) -> None:
    good = {"tokens": [5]}
    for bad, param in (
        ({}, "prompts[1]"),
        ({"messages": [{"role": "user"}]}, "prompts[1].messages[0].content"),
        ({"tokens": [5, 10**6]}, "prompts[1].tokens[1]"),
        ({"tokens": []}, "prompts[1].tokens"),
        ({"prompt": ""}, "prompts[1].prompt"),
    ):
        error = refusal(live, prompts=[good, bad])
        assert error["param"] == param
    unknown = live.post("/cache/warm", prompts=[good, {"tokens": [5], "model": "x"}])
    assert unknown.status_code == 404
    assert unknown.json()["error"]["param"] == "prompts[1].model"
    assert refusal(live, tokens=[10**6])["param"] == "tokens[0]"


def test_a_bad_prompt_leaves_the_good_ones_uncomputed(live: Any) -> None:
    good = ids(230, 40)
    refusal(live, prompts=[{"tokens": good}, {"tokens": [10**6]}])
    assert live.post("/cache/lookup", tokens=good).json()["cached_tokens"] == 0


def test_a_prompt_longer_than_the_context_is_refused(live: Any) -> None:
    assert refusal(live, tokens=ids(1, 1025))["code"] == "context_length_exceeded"


def test_more_prompts_than_the_queue_takes_are_429_and_none_is_left_behind(
    start_real: Any,
) -> None:
    live = start_real(max_waiting=4)
    response = live.post("/cache/warm", prompts=[{"tokens": ids(n, 500)} for n in range(200)])
    assert response.status_code == 429
    assert response.json()["error"]["type"] == "rate_limit_error"
    assert int(response.headers["retry-after"]) >= 1
    assert warm(live, tokens=ids(500, 20))[0]["prompt_tokens"] == 20
    stats = live.engine.stats()
    assert (stats.running, stats.waiting) == (0, 0)


def test_a_pin_over_the_budget_is_refused_and_says_so(start_real: Any) -> None:
    live = start_real(retention_budget_bytes=16 << 10)
    assert "pinned" in refusal(live, tokens=ids(1, 100), ttl=5)["message"]
    assert live.get("/cache/pin").json() == {"pins": []}
