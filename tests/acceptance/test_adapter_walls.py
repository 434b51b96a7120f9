"""Issue 2, "done when" 5: an adapter's content is a wall for KV, its name is none.

Every test that nothing is shared has its pair: what should be shared is (hit proof).
"""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import openai
import pytest
import torch
from tests.engine.drive import answer, assert_idle
from tests.failure_kinds.drive import BLOCK_BYTES, load, on_engine, prompt_of, served
from tests.failure_kinds.side_by_side import side_by_side
from tests.server.conftest import MODEL

from headstart.engine.build import build_engine
from headstart.engine.core import LocalEngine
from headstart.model.errors import ModelError
from headstart.model.load import LoadedModel
from headstart.model.lora import Adapter, load_adapter
from headstart.settings import Settings


@pytest.fixture(scope="module")
def tiny(tiny_checkpoint: Callable[..., Path]) -> LoadedModel:
    return load(tiny_checkpoint("llama"))


@pytest.fixture(scope="module")
def adapters(
    tiny_checkpoint: Callable[..., Path], tiny_adapter: Callable[..., Path]
) -> dict[str, Path]:
    """Two adapters of different weights."""
    base = tiny_checkpoint("llama")
    return {name: tiny_adapter(base, seed=seed) for name, seed in (("w1", 1), ("w2", 2))}


def loaded_as(name: str, path: Path, model: LoadedModel) -> Adapter:
    return load_adapter(name, path, model.config, torch.float32, torch.device("cpu"))


def cold_answer(model: LoadedModel, prompt: list[int], adapter: Path | None) -> tuple[int, ...]:
    """By an engine of its own that caches nothing."""
    ids: list[tuple[int, ...]] = []

    async def test(engine: LocalEngine) -> None:
        name = None if adapter is None else "alone"
        ids.append((await answer(engine, prompt, adapter=name)).ids)

    loras = () if adapter is None else (("alone", str(adapter)),)
    on_engine(model, test, prefix_cache=False, loras=loras)
    return ids[0]


def test_id_01_two_adapters_of_one_name_share_no_kv_in_one_cache(
    tiny: LoadedModel, adapters: dict[str, Path]
) -> None:
    """vllm#30931, with the KV of both in one pool: each answers as it does alone."""
    prompt = prompt_of(600)
    w1, w2 = adapters["w1"], adapters["w2"]
    cold1, cold2 = (cold_answer(tiny, prompt, path) for path in (w1, w2))
    assert cold1 != cold2, "with equal answers a wrong hit would not show"

    async def main() -> None:
        one, two, copy = side_by_side(
            [
                (tiny, [loaded_as("N", w1, tiny)]),
                (tiny, [loaded_as("N", w2, tiny)]),
                (tiny, [loaded_as("another name", w1, tiny)]),
            ]
        )
        for engine, name, cached, expected in (
            (one, "N", 0, cold1),
            (two, "N", 0, cold2),
            (copy, "another name", 599, cold1),
            (two, "N", 599, cold2),
            (one, "N", 599, cold1),
        ):
            outcome = await answer(engine, prompt, adapter=name)
            assert (outcome.reuse.cached_tokens, outcome.ids) == (cached, expected)
        for engine in (one, two, copy):
            assert_idle(engine)
            await engine.aclose(0)

    asyncio.run(main())


def test_an_adapter_and_the_base_share_no_hit_and_one_content_under_two_names_does(
    tiny: LoadedModel, adapters: dict[str, Path], tmp_path: Path
) -> None:
    copy = shutil.copytree(adapters["w1"], tmp_path / "copy")
    named = (("red", adapters["w1"]), ("green", adapters["w2"]), ("rouge", copy))
    loras = tuple((name, str(path)) for name, path in named)
    with served(tiny, loras=loras) as live:
        client = live.client()

        def hit(model: str) -> int | None:
            usage = client.completions.create(model=model, prompt=prompt_of(100)).usage
            assert usage is not None
            assert usage.prompt_tokens_details is not None
            return usage.prompt_tokens_details.cached_tokens

        assert [model.id for model in client.models.list()] == [MODEL, "red", "green", "rouge"]
        cold = [hit(name) for name in (MODEL, "red", "green")]
        warm = [hit(name) for name in (MODEL, "red", "green")]
        assert (cold, warm) == ([0] * 3, [99] * 3)
        assert hit("rouge") == 99
        with pytest.raises(openai.NotFoundError, match="blue"):
            hit("blue")


def test_a_batch_of_adapters_and_base_gives_each_its_own_cold_answer(
    tiny: LoadedModel, adapters: dict[str, Path]
) -> None:
    """All at once, cold and then warm, in steps that mix prefill and decode of all three."""
    prompts = [prompt_of(90), prompt_of(90), prompt_of(45, 1), prompt_of(17, 2)]
    asked = [(prompt, name) for name in (None, "w1", "w2") for prompt in prompts]
    cold = [
        cold_answer(tiny, prompt, None if name is None else adapters[name])
        for prompt, name in asked
    ]
    assert len(set(cold)) == 3 * 3, "nobody could tell who answered"
    loras = tuple((name, str(path)) for name, path in adapters.items())

    async def test(engine: LocalEngine) -> None:
        for _ in range(2):
            together = await asyncio.gather(
                *(answer(engine, prompt, adapter=name) for prompt, name in asked)
            )
            assert [outcome.ids for outcome in together] == cold
        repeated = [len(prompt) - 1 for prompt, _ in asked]
        assert [outcome.reuse.cached_tokens for outcome in together] == repeated

    on_engine(tiny, test, loras=loras, max_batch_tokens=48)


def test_a_name_that_would_not_reach_its_adapter_is_refused_at_start(
    tiny: LoadedModel, adapters: dict[str, Path]
) -> None:
    """Two adapters of one name, or one named like the base: the model name decides, so it can't."""
    w1, w2 = str(adapters["w1"]), str(adapters["w2"])
    for loras in ((("N", w1), ("N", w2)), ((MODEL, w1),)):
        with pytest.raises(ModelError, match=loras[-1][0]):
            build_engine(
                tiny,
                Settings(loras=loras, served_model_name=MODEL, kv_memory_bytes=BLOCK_BYTES),
            )
