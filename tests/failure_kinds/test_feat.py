"""FEAT: a feature needs something the cache doesn't hold. It has it, or it is refused by name."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.acceptance.compare import hold_exactly
from tests.engine.drive import Outcome, answer, choices, request
from tests.failure_kinds.drive import load, on_engine, prompt_of
from tests.server.conftest import Live
from typer.testing import CliRunner

from headstart.cli import app
from headstart.engine.core import LocalEngine
from headstart.model.errors import ModelError
from headstart.model.load import LoadedModel
from headstart.model.params import Grammar

CHUNK = 256
"""The unit of reuse in deterministic mode."""


@pytest.fixture(scope="module")
def in_bf16(tiny_checkpoint: Callable[..., Path]) -> LoadedModel:
    return load(tiny_checkpoint("llama"), torch.bfloat16)


def post(live: Live, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    with live.http() as http:
        response = http.post(path, json={"model": "tiny", **body})
    return response.status_code, response.json()


# Of the prompt only its end is computed on a hit


@pytest.mark.parametrize(
    ("path", "field", "value"),
    [
        ("/v1/completions", "prompt_logprobs", 1),
        ("/v1/completions", "echo", True),
        ("/v1/chat/completions", "prompt_logprobs", 1),
    ],
)
def test_feat_01_log_probabilities_of_the_prompt_are_refused_whether_it_is_cached_or_not(
    live: Live, path: str, field: str, value: object
) -> None:
    messages = [{"role": "user", "content": "Say the same again. " * 20}]
    body = {"prompt": prompt_of(120)} if path == "/v1/completions" else {"messages": messages}
    for _ in ("cold", "warm"):
        refused, answered = post(live, path, {**body, field: value})
        error = answered["error"]
        assert (refused, error["param"], error["code"]) == (400, field, "unsupported_parameter")
        assert post(live, path, {**body, "max_tokens": 1})[0] == 200


def test_feat_01_log_probabilities_of_the_answer_are_those_of_a_cold_run(
    tiny: LoadedModel,
) -> None:
    async def test(engine: LocalEngine) -> None:
        prompt = prompt_of(2 * CHUNK + 1)
        cold = await answer(engine, prompt, logprobs=5, max_tokens=12)
        warm = await answer(engine, prompt, logprobs=5, max_tokens=12)
        assert (cold.reuse.cached_tokens, warm.reuse.cached_tokens) == (0, 2 * CHUNK)
        assert [len(token.top) for token in warm.tokens] == [5] * len(cold.tokens)
        hold_exactly(cold, warm, "warm")

    on_engine(tiny, test, deterministic=True)


@pytest.mark.parametrize("path", ["/v1/embeddings", "/pooling", "/v1/score", "/v1/rerank"])
def test_feat_04_there_is_no_endpoint_that_would_pool_the_uncached_tail(
    live: Live, path: str
) -> None:
    status, answered = post(live, path, {"input": "the same text"})
    assert (status, answered["error"]["code"]) == (404, "unknown_url")
    assert path in answered["error"]["message"]


# Options that would need more than keys and values


def refused_option(*option: str) -> str:
    """What the command says to it before anything is loaded."""
    result = CliRunner().invoke(app, ["serve", *option])
    assert result.exit_code == 2
    assert option[0] in result.stderr
    return result.stderr


@pytest.mark.parametrize("option", ["--speculative-model", "--speculative-config", "--draft-model"])
def test_feat_07_speculation_is_no_option(option: str) -> None:
    refused_option(option, "x")


@pytest.mark.parametrize("option", ["--kv-cache-dtype", "--quantization", "--kv-quant-scales"])
def test_feat_15_quantised_kv_is_no_option(option: str) -> None:
    refused_option(option, "fp8")


def test_feat_14_a_dtype_that_kv_can_not_have_is_refused_with_the_ones_it_can() -> None:
    said = refused_option("--dtype", "float8_e4m3fn")
    assert "bfloat16" in said
    assert "float32" in said


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_feat_14_reuse_changes_no_bit_in_any_dtype_of_kv(
    tiny_checkpoint: Callable[..., Path], dtype: torch.dtype
) -> None:
    loaded = load(tiny_checkpoint("llama"), dtype)
    prompts = [prompt_of(260 + 13 * n, seed=n) for n in range(20)]

    async def answers(engine: LocalEngine) -> list[Outcome]:
        return [await answer(engine, prompt, max_tokens=3) for prompt in prompts]

    async def without(engine: LocalEngine) -> None:
        cold.extend(await answers(engine))

    async def with_reuse(engine: LocalEngine) -> None:
        await answers(engine)
        for alone, warm in zip(cold, await answers(engine), strict=True):
            assert (alone.reuse.cached_tokens, warm.reuse.cached_tokens) in ((0, 256), (0, 512))
            hold_exactly(alone, warm, "warm")

    cold: list[Outcome] = []
    on_engine(loaded, without, deterministic=True, prefix_cache=False)
    on_engine(loaded, with_reuse, deterministic=True, blocks=900)


# Models whose state is more than keys and values, or less


@pytest.mark.parametrize(
    ("family", "config"),
    [
        ("mistral", {"sliding_window": 512}),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 512, "max_window_layers": 0}),
        ("qwen3", {"use_sliding_window": True, "sliding_window": 512, "max_window_layers": 0}),
    ],
)
def test_feat_09_a_sliding_window_in_force_is_refused_at_load(
    tiny_checkpoint: Callable[..., Path], family: str, config: dict[str, Any]
) -> None:
    with pytest.raises(ModelError, match="sliding_window = 512"):
        load(tiny_checkpoint(family, **config))


def test_feat_09_a_window_that_the_context_never_reaches_changes_nothing(
    tiny_checkpoint: Callable[..., Path],
) -> None:
    """The pair, and the case itself: four identical requests over a would-be window."""
    loaded = load(tiny_checkpoint("mistral", sliding_window=1024))

    async def test(engine: LocalEngine) -> None:
        prompt = prompt_of(900)
        outcomes = [await answer(engine, prompt) for _ in range(4)]
        assert len({outcome.ids for outcome in outcomes}) == 1
        assert [o.reuse.cached_tokens for o in outcomes] == [0, 899, 899, 899]

    on_engine(loaded, test)


def test_feat_11_a_mix_of_window_and_full_layers_is_refused_at_load(
    tiny_checkpoint: Callable[..., Path],
) -> None:
    window = {"use_sliding_window": True, "sliding_window": 512, "max_window_layers": 1}
    path = tiny_checkpoint("qwen2", **window)
    layer_types = json.loads((path / "config.json").read_text())["layer_types"]
    assert set(layer_types) == {"full_attention", "sliding_attention"}
    with pytest.raises(ModelError, match="sliding_window = 512"):
        load(path)


@pytest.mark.parametrize(
    "architecture",
    [
        pytest.param("Gemma3ForCausalLM", id="feat_11 alternating windows"),
        pytest.param("GptOssForCausalLM", id="feat_11 alternating windows and sinks"),
        pytest.param("Qwen3NextForCausalLM", id="feat_12 linear attention"),
        pytest.param("MambaForCausalLM", id="feat_12 no attention"),
        pytest.param("JambaForCausalLM", id="feat_12 attention and recurrence"),
        pytest.param("DeepseekV3ForCausalLM", id="feat_15 latent KV"),
    ],
)
def test_feat_12_models_with_other_state_than_kv_are_refused_by_name(
    tmp_path: Path, tiny_checkpoint: Callable[..., Path], architecture: str
) -> None:
    """A real checkpoint, but for the architecture it says it has."""
    for file in tiny_checkpoint("llama").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"architectures": [architecture]}))
    with pytest.raises(ModelError, match=architecture) as refused:
        load(tmp_path)
    assert "LlamaForCausalLM" in str(refused.value), "what is supported"


# Cold equals warm


def test_feat_05_a_prompt_sent_five_times_is_answered_with_the_same_bits(
    in_bf16: LoadedModel,
) -> None:
    """bf16 rounds logits into near ties; alone, in company, cold and warm they fall alike."""
    prompts = [prompt_of(n) for n in (1, 255, 256, 257, 513, 700)]

    async def test(engine: LocalEngine) -> None:
        cold = [await answer(engine, prompt, max_tokens=12) for prompt in prompts]
        assert [outcome.reuse.cached_tokens for outcome in cold] == [0] * 6
        for run in range(4):
            together = await asyncio.gather(
                *(answer(engine, prompt, max_tokens=12) for prompt in prompts[run:])
            )
            for alone, outcome in zip(cold[run:], together, strict=True):
                hold_exactly(alone, outcome, f"run {run}")
            assert together[-1].reuse.cached_tokens == 512

    on_engine(in_bf16, test, deterministic=True, blocks=400)


@pytest.mark.parametrize(
    ("settings", "unit", "length", "cached"),
    [
        ({"deterministic": True}, CHUNK, CHUNK + 40, CHUNK),
        ({"deterministic": True}, CHUNK, 2 * CHUNK + 40, 2 * CHUNK),
        ({"deterministic": True}, CHUNK, 2 * CHUNK + 1, 2 * CHUNK),
        ({}, 1, 16 + 5, 16 + 4),
        ({}, 1, 2 * 16 + 5, 2 * 16 + 4),
        ({}, 1, 2 * 16 + 1, 2 * 16),
        ({}, 1, 2 * 16, 2 * 16 - 1),
        ({"block_size": 1}, 1, 37, 36),
    ],
    ids=[
        "1B",
        "2B",
        "n-1",
        "in block 2",
        "in block 3",
        "n-1 at a border",
        "n-1 before a border",
        "blocks of one token",
    ],
)
def test_feat_17_a_prefill_that_starts_from_cached_kv_is_the_whole_one(
    tiny: LoadedModel, settings: dict[str, Any], unit: int, length: int, cached: int
) -> None:
    """Ids everywhere; every bit of their log probabilities with fixed borders."""

    async def test(engine: LocalEngine) -> None:
        prompt = prompt_of(length)
        cold = await answer(engine, prompt, max_tokens=10)
        warm = await answer(engine, prompt, max_tokens=10)
        assert (cold.reuse.cached_tokens, warm.reuse.cached_tokens) == (0, cached)
        assert (length - 1) // unit * unit == cached
        assert warm.ids == cold.ids
        if settings.get("deterministic"):
            hold_exactly(cold, warm, "warm")

    on_engine(tiny, test, blocks=128 * 16 // settings.get("block_size", 16), **settings)


@pytest.mark.parametrize(
    "settings",
    [{}, {"max_batch_tokens": 24}, {"max_running": 1}, {"deterministic": True}],
    ids=str,
)
def test_feat_19_an_identical_prompt_hits_in_every_mode_of_the_scheduler(
    tiny: LoadedModel, settings: dict[str, Any]
) -> None:
    """Greedy, drawn, several choices, under a grammar, beside other work: calls 2 and 3 hit."""
    prompt = prompt_of(780)
    unit = CHUNK if settings.get("deterministic") else 1
    modes: list[dict[str, Any]] = [
        {},
        {"temperature": 1.0, "seed": 1},
        {"n": 3, "temperature": 1.0},
        {"grammar": Grammar("json_schema", '{"type":"object"}')},
        {"logprobs": None},
    ]

    async def test(engine: LocalEngine) -> None:
        beside = engine.submit(request(prompt_of(9), max_tokens=900, ignore_eos=True))
        if settings.get("max_running") == 1:
            await beside.aclose()
        for salt, mode in enumerate(modes):
            cached = []
            for _ in range(3):
                first, *_ = await choices(engine, request(prompt, salt=str(salt), **mode))
                cached.append(first.reuse.cached_tokens)
            reusable = (len(prompt) - 1) // unit * unit
            assert cached == [0, reusable, reusable]
        await beside.aclose()

    on_engine(tiny, test, blocks=512, **settings)


# Grammar and a shared prefix


def schema_of(marker: str) -> dict[str, Any]:
    """Strict, with room for the model's own choice beside the marker."""
    return {
        "type": "object",
        "properties": {
            "marker": {"const": marker},
            "colour": {"enum": ["red", "green", "blue", "yellow"]},
            "even": {"type": "boolean"},
        },
        "required": ["marker", "colour", "even"],
        "additionalProperties": False,
    }


def test_feat_16_eight_parallel_schema_requests_each_return_their_own_marker(
    tiny: LoadedModel,
) -> None:
    """Over a shared prefix, cold and again warm; each as the same request is answered alone."""
    shared = prompt_of(640)
    markers = [f"marker-{n}-{n * 7919}" for n in range(8)]
    asked: list[dict[str, Any]] = [
        {
            "prompt": [*shared, *tiny.codec.encode(f" Say {marker}.")],
            "grammar": Grammar("json_schema", json.dumps(schema_of(marker))),
            "max_tokens": 200,
        }
        for marker in markers
    ]

    async def alone(engine: LocalEngine) -> None:
        expected.extend([await answer(engine, **each) for each in asked])

    async def test(engine: LocalEngine) -> None:
        for run in range(2):
            before = engine.stats().prefill_tokens
            together = await asyncio.gather(*(answer(engine, **each) for each in asked))
            for marker, each, outcome in zip(markers, expected, together, strict=True):
                value = json.loads(outcome.text)
                assert value["marker"] == marker
                assert set(value) == {"marker", "colour", "even"}
                assert (outcome.reason, outcome.ids) == ("stop", each.ids)
            hits = sorted(outcome.reuse.cached_tokens for outcome in together)
            if run:
                assert hits == sorted(len(each["prompt"]) - 1 for each in asked)
            assert (hits[0] == 0) == (not run)
            assert hits[1] >= 640, "the prefix was computed once"
            computed = engine.stats().prefill_tokens - before
            prompts = sum(outcome.reuse.prompt_tokens for outcome in together)
            assert computed == prompts - sum(hits)

    expected: list[Outcome] = []
    on_engine(tiny, alone, prefix_cache=False)
    on_engine(tiny, test)
