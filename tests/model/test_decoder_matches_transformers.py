"""Oracle: transformers' logits of tiny random checkpoints, each family under each rope scaling."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from headstart.model.attention import PagedAttention, partial_for
from headstart.model.decoder import Decoder, Step
from headstart.model.kv import KVPool
from headstart.model.load import load_model
from headstart.model.lora import Adapter, load_adapter
from headstart.model.plan import Rows, plan_attention

CPU = torch.device("cpu")
TOKENS, BLOCK_SIZE = 71, 16
BLOCKS = (5, 6, 1, 4, 3)
"""Some neighbours, some not, none where its number says."""

FAMILIES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "llama with as many kv heads as heads": ("llama", {"num_key_value_heads": 4}),
    "llama with shared kv heads": ("llama", {}),
    "llama with a tied head": ("llama", {"tie_word_embeddings": True}),
    "llama with wide heads": ("llama", {"head_dim": 24}),
    "mistral": ("mistral", {}),
    "qwen2": ("qwen2", {}),
    "qwen2 with a tied head": ("qwen2", {"tie_word_embeddings": True}),
    "qwen3": ("qwen3", {}),
    "qwen3 with a tied head": ("qwen3", {"tie_word_embeddings": True}),
}
# The original context is shorter than the test's text, so that every scaling is felt.
SCALINGS: Mapping[str, dict[str, Any]] = {
    "default": {"rope_type": "default"},
    "linear": {"rope_type": "linear", "factor": 2.0},
    "llama3": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32,
    },
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
}


class Paged:
    """A decoder over a paged pool, one sequence at a time."""

    def __init__(self, checkpoint: Path) -> None:
        model = load_model(str(checkpoint), dtype=torch.float32, device=CPU)
        self.config = model.config
        self._decoder = Decoder(model.config, model.weights, positions=128)
        self._pool = KVPool(
            model.config, blocks=8, block_size=BLOCK_SIZE, dtype=torch.float32, device=CPU
        )

    def logits(
        self, ids: torch.Tensor, start: int = 0, adapter: Adapter | None = None
    ) -> torch.Tensor:
        """Of every one of `ids`, at positions from `start` on, `[len(ids), V]`."""
        count = len(ids)
        positions = torch.arange(start, start + count)
        table = torch.tensor(BLOCKS)
        plan = plan_attention([Rows(0, count, start, BLOCKS)], BLOCK_SIZE)
        step = Step(
            tokens=ids,
            positions=positions,
            slots=table[positions // BLOCK_SIZE] * BLOCK_SIZE + positions % BLOCK_SIZE,
            attention=PagedAttention(plan, self._pool, partial=partial_for(CPU)),
            wanted=torch.arange(count),
            adapters=[] if adapter is None else [(slice(0, count), adapter.layers)],
        )
        return self._decoder.forward(step, self._pool)


@torch.inference_mode()
def reference(model: Any, ids: torch.Tensor) -> torch.Tensor:
    logits: torch.Tensor = model(ids[None]).logits[0]
    return logits


def random_ids(vocab_size: int) -> torch.Tensor:
    return torch.randint(vocab_size, (TOKENS,), generator=torch.Generator().manual_seed(1))


def load_reference(checkpoint: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(
        checkpoint, dtype=torch.float32, attn_implementation="eager"
    )


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("family", FAMILIES)
def test_logits_are_those_of_transformers_at_once_and_after_a_prefix(
    tiny_checkpoint: Callable[..., Path], family: str, scaling: str
) -> None:
    name, shape = FAMILIES[family]
    rope = {"rope_theta": 10_000.0, **SCALINGS[scaling]}
    checkpoint = tiny_checkpoint(name, **shape, rope_parameters=rope)
    ours = Paged(checkpoint)
    ids = random_ids(ours.config.vocab_size)
    expected = reference(load_reference(checkpoint), ids)
    assert expected.std() > 0.1, "logits this flat would hide mistakes"
    torch.testing.assert_close(ours.logits(ids), expected, atol=1e-4, rtol=0)
    for prefix in (1, 16, 37, TOKENS - 1):
        parts = [ours.logits(ids[:prefix]), ours.logits(ids[prefix:], start=prefix)]
        torch.testing.assert_close(torch.cat(parts), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("scaling", ["linear", "llama3", "yarn"])
def test_each_scaling_changes_the_logits(
    tiny_checkpoint: Callable[..., Path], scaling: str
) -> None:
    """Else the test above could pass with a scaling that is ignored on both sides."""
    plain, scaled = (
        Paged(tiny_checkpoint("llama", rope_parameters={"rope_theta": 10_000.0, **SCALINGS[name]}))
        for name in ("default", scaling)
    )
    ids = random_ids(plain.config.vocab_size)
    assert (plain.logits(ids) - scaled.logits(ids)).abs().max() > 0.01


@pytest.mark.parametrize("family", ["llama", "qwen3"])
@pytest.mark.parametrize("settings", [{}, {"use_rslora": True}, {"target_modules": ["q_proj"]}])
def test_logits_under_an_adapter_are_those_of_peft(
    tiny_checkpoint: Callable[..., Path],
    tiny_adapter: Callable[..., Path],
    family: str,
    settings: dict[str, Any],
) -> None:
    from peft import PeftModel

    checkpoint = tiny_checkpoint(family)
    directory = tiny_adapter(checkpoint, **settings)
    ours = Paged(checkpoint)
    adapter = load_adapter("a", directory, ours.config, torch.float32, CPU)
    ids = random_ids(ours.config.vocab_size)
    base = load_reference(checkpoint)
    without = reference(base, ids)
    expected = reference(PeftModel.from_pretrained(base, directory), ids)
    assert (expected - without).abs().max() > 0.1
    torch.testing.assert_close(ours.logits(ids, adapter=adapter), expected, atol=1e-4, rtol=0)
