"""ID: incomplete or ambiguous cache identity. What the key alone can show is in `tests/cache`."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest
from tests.engine.drive import answer, assert_idle
from tests.failure_kinds.drive import cold_answers, common_prefix, load, on_engine, prompt_of
from tests.failure_kinds.side_by_side import side_by_side
from tests.server.conftest import Live

from headstart.engine.core import LocalEngine
from headstart.model.load import LoadedModel

PIXEL = "data:image/png;base64,iVBORw0KGgo="
IMAGE = {"type": "image_url", "image_url": {"url": PIXEL}}


def refused(live: Live, part: dict[str, Any]) -> openai.BadRequestError:
    """The error that a message of a text and `part` is answered with."""
    text = {"type": "text", "text": "What is this? " * 20}
    messages: Any = [{"role": "user", "content": [text, part]}]
    with pytest.raises(openai.BadRequestError) as caught:
        live.client().chat.completions.create(model="tiny", messages=messages, max_tokens=1)
    return caught.value


def test_id_05_a_picture_is_refused_by_its_place_and_nothing_of_its_message_is_cached(
    live: Live,
) -> None:
    """No placeholder ids: a model that can't see never gets to answer."""
    before = live.engine.stats()
    for _ in range(2):
        error = refused(live, IMAGE)
        assert (error.status_code, error.param) == (400, "messages[0].content[1].type")
        assert "image_url" in error.message
    after = live.engine.stats()
    assert after.prefill_tokens == before.prefill_tokens
    assert after.cache.prompt_tokens == before.cache.prompt_tokens


@pytest.mark.parametrize(
    "part",
    [
        {**IMAGE, "uuid": "M"},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"file_id": "M"}},
        {"type": "video_url", "video_url": {"url": "https://example.org/v"}, "uuid": "M"},
        {"type": "image_embeds", "image_embeds": None, "uuid": "M"},
    ],
    ids=lambda part: str(part["type"]),
)
def test_id_08_media_named_by_an_id_of_the_clients_choice_is_refused(
    live: Live, part: dict[str, Any]
) -> None:
    assert "messages[0].content[1]" in (refused(live, part).param or "")


def test_id_09_prompts_made_of_embeddings_are_refused_by_name(live: Live) -> None:
    """Alone, beside a prompt, and as a part of a message: never keyed as if they were tokens."""
    with live.http() as http:
        for body in ({"prompt_embeds": "AAAA"}, {"prompt_embeds": ["AAAA"], "prompt": "x"}):
            response = http.post("/v1/completions", json={"model": "tiny", **body})
            error = response.json()["error"]
            assert (response.status_code, error["param"]) == (400, "prompt_embeds")
            assert "token ids" in error["message"], "the way out"
    part = {"type": "prompt_embeds", "prompt_embeds": "AAAA"}
    assert "messages[0].content[1]" in (refused(live, part).param or "")


def test_id_12_a_guess_of_another_tenants_prompt_costs_all_its_tokens_however_close_it_is(
    tiny: LoadedModel,
) -> None:
    """What time to first token could tell is work left out: there is none, for k right tokens.

    `tests/acceptance/test_walls.py` shows that nothing else tells of it either.
    """
    secret = prompt_of(8 * 16 + 1)

    async def test(engine: LocalEngine) -> None:
        await answer(engine, secret, tenant="victim")
        for k in (0, 1, 15, 16, 17, 40, 64, 100, 127, 128):
            guess = [*secret[:k], *prompt_of(129 - k, seed=1 + k)]
            before = engine.stats().prefill_tokens
            outcome = await answer(engine, guess, tenant="spy", salt=str(k), max_tokens=1)
            assert outcome.reuse.cached_tokens == 0
            assert engine.stats().prefill_tokens - before == 129
            # The pair: the same guess by the victim is a hit of just what is right.
            own = engine.lookup(guess, tenant="victim", salt=None, adapter=None)
            assert own.cached_tokens == min(common_prefix(guess, secret), 128) >= k

    on_engine(tiny, test)


def test_id_14_other_weights_in_the_same_pool_find_nothing_of_the_old_ones(
    tiny: LoadedModel, tiny_checkpoint: Callable[..., Path]
) -> None:
    """A swap of weights at its worst: index and KV of the old ones are all still there."""
    other = load(tiny_checkpoint("llama", seed=1))
    prompt = prompt_of(600)
    (cold,), (swapped,) = (cold_answers(model, [prompt]) for model in (tiny, other))
    assert cold.ids != swapped.ids

    async def main() -> None:
        old, new = side_by_side([(tiny, ()), (other, ())])
        for engine, cached, expected in (
            (old, 0, cold),
            (old, 599, cold),
            (new, 0, swapped),
            (new, 599, swapped),
            (old, 599, cold),
        ):
            outcome = await answer(engine, prompt)
            assert (outcome.reuse.cached_tokens, outcome.ids) == (cached, expected.ids)
        for engine in (old, new):
            assert_idle(engine)
            await engine.aclose(0)

    asyncio.run(main())


@pytest.mark.parametrize(
    "path", ["/v1/load_lora_adapter", "/v1/unload_lora_adapter", "/update_weights_from_disk"]
)
def test_id_14_a_running_server_takes_no_other_weights(live: Live, path: str) -> None:
    with live.http() as http:
        response = http.post(path, json={"lora_name": "N", "lora_path": "/tmp"})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "unknown_url")


def test_id_16_the_look_up_and_the_engine_agree_on_every_salt(live: Live) -> None:
    """The only other reader of the index here; a router will have to pass the same."""
    prompt = prompt_of(100, seed=16)
    client = live.client()

    def looked_up(salt: str | None) -> int:
        with live.http() as http:
            body = {"tokens": prompt, "cache_salt": salt}
            return int(http.post("/cache/lookup", json=body).json()["cached_tokens"])

    def reported(salt: str | None) -> int | None:
        usage = client.completions.create(
            model="tiny", prompt=prompt, max_tokens=1, extra_body={"cache_salt": salt}
        ).usage
        assert usage is not None
        assert usage.prompt_tokens_details is not None
        return usage.prompt_tokens_details.cached_tokens

    live.engine.reset_cache()  # Other tests' prompts may begin with the same token.
    for salt in ("s1", "s2", None):
        assert (looked_up(salt), reported(salt)) == (0, 0)
        assert (looked_up(salt), reported(salt)) == (99, 99)
