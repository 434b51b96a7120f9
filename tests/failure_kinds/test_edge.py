"""EDGE: boundary arithmetic, through the real engine and over HTTP."""

from typing import Any

import openai
import pytest
from tests.engine.drive import answer
from tests.failure_kinds.drive import cold_answers, on_engine, prompt_of
from tests.server.conftest import Live

from headstart.engine.core import LocalEngine
from headstart.model.load import LoadedModel

CHUNK = 32


@pytest.mark.parametrize(
    ("settings", "head", "rests"),
    [
        ({"max_batch_tokens": CHUNK}, 96, range(1, CHUNK + 2)),
        ({"deterministic": True}, 512, (1, 2, 31, 32, 255, 256, 257)),
    ],
    ids=["chunks of 32", "fixed chunks of 256"],
)
def test_edge_04_a_rest_of_any_size_behind_a_hit_is_answered_like_cold(
    tiny: LoadedModel, settings: dict[str, Any], head: int, rests: range
) -> None:
    """From one token to one more than a chunk."""
    shared = prompt_of(head)
    prompts = [[*shared, 3 + rest, *prompt_of(rest - 1, seed=1)] for rest in rests]
    cold = cold_answers(tiny, prompts, max_tokens=3)

    async def test(engine: LocalEngine) -> None:
        await answer(engine, shared, max_tokens=1)
        for rest, prompt, alone in zip(rests, prompts, cold, strict=True):
            before = engine.stats().prefill_tokens
            outcome = await answer(engine, prompt, max_tokens=3)
            assert outcome.reuse.cached_tokens == head
            assert engine.stats().prefill_tokens - before == rest
            assert outcome.ids == alone.ids

    on_engine(tiny, test, **settings)


NOTHING: list[tuple[str, dict[str, Any], str]] = [
    ("/v1/completions", {"prompt": ""}, "prompt"),
    ("/v1/completions", {"prompt": []}, "prompt"),
    ("/v1/completions", {"prompt": ["x", ""]}, "prompt[1]"),
    ("/v1/completions", {"prompt": [[5], []]}, "prompt[1]"),
    ("/v1/chat/completions", {"messages": []}, "messages"),
    ("/cache/lookup", {"tokens": []}, "tokens"),
]


@pytest.mark.parametrize(("path", "body", "field"), NOTHING)
def test_edge_11_a_prompt_of_no_token_is_refused_by_its_field(
    live: Live, path: str, body: dict[str, Any], field: str
) -> None:
    before = live.engine.stats().cache.prompt_tokens
    with live.http() as http:
        response = http.post(path, json={"model": "tiny", **body})
    error = response.json()["error"]
    assert (response.status_code, error["param"]) == (400, field)
    assert error["type"] == "invalid_request_error"
    assert live.engine.stats().cache.prompt_tokens == before


@pytest.mark.parametrize("prompt", [" ", "\n", "a", [5], [0], "<|endoftext|>"], ids=repr)
def test_edge_11_one_token_is_answered_the_same_every_time_and_never_found(
    live: Live, prompt: Any
) -> None:
    """White space, a letter, an id, and the token that begins a text, by id and by name."""
    client = live.client()
    texts = set()
    for _ in range(3):
        whole = client.completions.create(model="tiny", prompt=prompt, max_tokens=20, temperature=0)
        assert whole.usage is not None
        assert whole.usage.prompt_tokens == 1
        assert whole.usage.prompt_tokens_details is not None
        assert whole.usage.prompt_tokens_details.cached_tokens == 0
        assert whole.usage.completion_tokens >= 1
        texts.add(whole.choices[0].text)
    assert len(texts) == 1


@pytest.mark.parametrize("content", ["", " ", "\n\t "])
def test_edge_11_a_chat_message_without_words_is_still_a_prompt(live: Live, content: str) -> None:
    """The template gives it its tokens."""
    messages: list[Any] = [{"role": "user", "content": content}]
    answer = live.client().chat.completions.create(model="tiny", messages=messages, max_tokens=2)
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 1
    assert answer.usage.completion_tokens >= 1


def test_edge_11_a_chat_without_a_message_is_refused_by_the_official_client_too(live: Live) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        live.client().chat.completions.create(model="tiny", messages=[])
    assert caught.value.param == "messages"
