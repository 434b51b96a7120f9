"""`/cache`, `/tokenize`, `/detokenize`, `/v1/models` and `/metrics` on the real engine."""

from collections.abc import Callable
from typing import Any

import pytest

from headstart.text.chat import Conversation, Message

Words = Callable[..., list[dict[str, str]]]


def chat(live: Any, messages: Any, **fields: Any) -> Any:
    return (
        live.client()
        .chat.completions.create(
            model="tiny", messages=messages, max_tokens=1, temperature=0, **fields
        )
        .usage
    )


def lookup(live: Any, **body: Any) -> dict[str, Any]:
    with live.http() as http:
        response = http.post("/cache/lookup", json=body)
    assert response.status_code == 200, response.text
    found = response.json()
    assert isinstance(found, dict)
    return found


def metric(live: Any, name: str) -> float:
    with live.http() as http:
        lines = http.get("/metrics").text.splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name} "))
    return float(line.split()[-1])


def test_a_lookup_foretells_the_usage_and_changes_nothing(live: Any, words: Words) -> None:
    messages = words("lookup", 50)
    # What the salt keeps out: every chat begins with the template's own tokens.
    salted = {"cache_salt": "lookup"}
    for _ in range(3):
        assert lookup(live, messages=messages, **salted)["cached_tokens"] == 0
    first = chat(live, messages, extra_body=salted)
    foretold = lookup(live, messages=messages, **salted)
    before = live.engine.stats()
    assert lookup(live, messages=messages, **salted) == foretold
    assert live.engine.stats() == before
    second = chat(live, messages, extra_body=salted)
    assert first.prompt_tokens_details.cached_tokens == 0
    assert second.prompt_tokens_details.cached_tokens == second.prompt_tokens - 1
    assert foretold == {
        "prompt_tokens": second.prompt_tokens,
        "cached_tokens": second.prompt_tokens_details.cached_tokens,
        "reason": "capped",
        "at": second.prompt_tokens - 1,
        "lost": None,
        "fields": [],
    }


def test_a_lookup_takes_text_tokens_and_a_salt(live: Any) -> None:
    text = "A lookup takes text as well as the tokens that the text is made of, does it not?"
    ids = live.codec.encode_prompt(text)
    live.client().completions.create(model="tiny", prompt=text, max_tokens=1)
    hit = len(ids) - 1
    found = lookup(live, prompt=text)
    assert (found["prompt_tokens"], found["cached_tokens"]) == (len(ids), hit)
    assert lookup(live, tokens=ids, model="tiny")["cached_tokens"] == hit
    assert lookup(live, tokens=ids, cache_salt="s")["cached_tokens"] == 0


def test_a_lookup_of_an_unknown_model_is_404(live: Any) -> None:
    with live.http() as http:
        assert http.post("/cache/lookup", json={"prompt": "a", "model": "x"}).status_code == 404


def test_a_reset_forgets_everything(live: Any, words: Words) -> None:
    messages = words("reset", 50)
    chat(live, messages)
    assert lookup(live, messages=messages)["cached_tokens"] > 0
    with live.http() as http:
        assert http.post("/cache/reset").json() == {"reset": True}
        assert http.get("/cache").json()["cached_free_tokens"] == 0
    assert lookup(live, messages=messages)["cached_tokens"] == 0
    assert chat(live, messages).prompt_tokens_details.cached_tokens == 0


def test_sched_a_reset_works_while_a_stream_runs(live: Any, words: Words) -> None:
    """SCHED-15: it takes effect at once, and the stream's answer stays what it was."""
    messages = words("running", 30)
    fields = {"max_tokens": 60, "temperature": 0, "extra_body": {"ignore_eos": True}}
    client = live.client()
    whole = client.chat.completions.create(model="tiny", messages=messages, **fields)
    stream = client.chat.completions.create(model="tiny", messages=messages, stream=True, **fields)
    pieces = [next(iter(stream))]
    with live.http() as http:
        assert http.post("/cache/reset").status_code == 200
    pieces += list(stream)
    text = "".join(piece.choices[0].delta.content or "" for piece in pieces)
    assert text == whole.choices[0].message.content
    assert lookup(live, messages=messages)["cached_tokens"] == 0


def test_the_cache_tells_its_size_and_rates_by_tokens(start_real: Any) -> None:
    live = start_real()
    with live.http() as http:
        empty = http.get("/cache").json()
        assert empty["since_start"] == {"prompt_tokens": 0, "hit_tokens": 0, "hit_rate": None}
        ids = list(range(5, 69))
        for _ in range(2):
            live.client().completions.create(model="tiny", prompt=ids, max_tokens=1)
        full = http.get("/cache").json()
    assert full["block_size"] == 16
    assert full["capacity_tokens"] == empty["capacity_tokens"] > 1024
    assert full["used_tokens"] == 0
    assert full["cached_free_tokens"] == 64
    assert full["evicted_blocks"] == 0
    rates = {"prompt_tokens": 128, "hit_tokens": 63, "hit_rate": 63 / 128}
    assert full["since_start"] == full["last_minute"] == rates


def test_metrics_agree_with_the_usage_of_every_answer(live: Any, words: Words) -> None:
    """Law 2: one account, told in two places."""
    names = ("prompt_tokens", "cached_tokens", "generated_tokens")

    def read() -> list[float]:
        return [metric(live, f"headstart_{name}_total") for name in names]

    before = read()
    messages = words("metrics", 40)
    usages = [chat(live, messages), chat(live, messages, n=2), chat(live, messages, stream=False)]
    stream = live.client().chat.completions.create(
        model="tiny",
        messages=messages,
        max_tokens=3,
        stream=True,
        stream_options={"include_usage": True},
    )
    usages.append([chunk.usage for chunk in stream][-1])
    told = [
        sum(usage.prompt_tokens for usage in usages),
        sum(usage.prompt_tokens_details.cached_tokens for usage in usages),
        sum(usage.completion_tokens for usage in usages),
    ]
    assert told[1] > 0
    assert [after - start for after, start in zip(read(), before, strict=True)] == told


def test_metrics_time_the_first_token_and_the_whole(live: Any) -> None:
    names = ("time_to_first_token", "time_per_output_token", "request_duration")

    def counts() -> list[float]:
        return [metric(live, f"headstart_{name}_seconds_count") for name in names]

    before = counts()
    live.client().completions.create(
        model="tiny", prompt="a", max_tokens=4, extra_body={"ignore_eos": True}
    )
    assert [after - start for after, start in zip(counts(), before, strict=True)] == [1, 1, 1]


def test_metrics_show_the_pool(live: Any) -> None:
    stats = live.engine.stats()
    assert metric(live, "headstart_kv_capacity_tokens") == stats.cache.capacity_tokens
    assert metric(live, "headstart_kv_cached_free_tokens") == stats.cache.cached_free_tokens
    assert metric(live, "headstart_kv_used_tokens") == 0
    assert metric(live, "headstart_running_requests") == 0
    assert metric(live, "headstart_evicted_blocks_total") == stats.cache.evicted_blocks


def test_tokenize_gives_what_a_completion_would_compute(live: Any) -> None:
    with live.http() as http:
        text = http.post("/tokenize", json={"model": "tiny", "prompt": "Zürich 🙂"}).json()
        messages = [{"role": "user", "content": "Hi"}]
        chatted = http.post("/tokenize", json={"messages": messages}).json()
    assert text["tokens"] == live.codec.encode_prompt("Zürich 🙂")
    assert text["count"] == len(text["tokens"])
    assert text["max_model_len"] == 1024
    expected = live.codec.encode_chat(Conversation((Message("user", "Hi"),)))
    assert chatted["tokens"] == expected


@pytest.mark.parametrize("text", ["Zürich 🙂", "a  b\n", "<|im_start|>user", ""])
def test_detokenize_undoes_tokenize(live: Any, text: str) -> None:
    with live.http() as http:
        body = {"prompt": text, "add_special_tokens": False}
        tokens = http.post("/tokenize", json=body).json()["tokens"]
        assert http.post("/detokenize", json={"tokens": tokens}).json() == {"prompt": text}


def test_detokenize_refuses_ids_the_model_has_not(live: Any) -> None:
    with live.http() as http:
        response = http.post("/detokenize", json={"tokens": [1, 10**6]})
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "tokens[1]"


def test_large_bodies_are_served_like_small_ones(live: Any) -> None:
    """Above the size from which a thread does the work."""
    text = "cache " * 10_000
    with live.http() as http:
        tokens = http.post("/tokenize", json={"prompt": text}).json()["tokens"]
        refused = http.post("/v1/completions", json={"model": "tiny", "prompt": text})
    assert tokens == live.codec.encode_prompt(text)
    assert refused.json()["error"]["code"] == "context_length_exceeded"


def test_models_lists_the_model_and_finds_it(live: Any) -> None:
    client = live.client()
    assert [model.id for model in client.models.list()] == ["tiny"]
    assert client.models.retrieve("tiny").object == "model"
