"""Oracle: transformers' rotary embeddings, module and init functions, for every scaling."""

import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from headstart.model.config import RopeConfig
from headstart.model.rope import rope_table

POSITIONS, HEAD_DIM = 700, 64

SCALINGS = {
    "default": (RopeConfig(10_000.0), {}),
    "large theta": (RopeConfig(500_000.0), {"rope_theta": 500_000.0}),
    "linear": (
        RopeConfig(10_000.0, "linear", 4.0),
        {"rope_type": "linear", "factor": 4.0},
    ),
    "llama3": (
        RopeConfig(500_000.0, "llama3", 8.0, 1.0, 4.0, original_max_positions=128),
        {
            "rope_type": "llama3",
            "rope_theta": 500_000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 128,
        },
    ),
    "yarn": (
        RopeConfig(10_000.0, "yarn", 4.0, original_max_positions=128),
        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128},
    ),
    "yarn without rounding": (
        RopeConfig(10_000.0, "yarn", 4.0, original_max_positions=128, truncate=False),
        {
            "rope_type": "yarn",
            "factor": 4.0,
            "original_max_position_embeddings": 128,
            "truncate": False,
        },
    ),
    "yarn with betas": (
        RopeConfig(
            10_000.0, "yarn", 4.0, original_max_positions=128, beta_fast=16.0, beta_slow=2.0
        ),
        {
            "rope_type": "yarn",
            "factor": 4.0,
            "original_max_position_embeddings": 128,
            "beta_fast": 16.0,
            "beta_slow": 2.0,
        },
    ),
    "yarn with a given attention factor": (
        RopeConfig(10_000.0, "yarn", 4.0, original_max_positions=128, attention_factor=0.8),
        {
            "rope_type": "yarn",
            "factor": 4.0,
            "original_max_position_embeddings": 128,
            "attention_factor": 0.8,
        },
    ),
    "yarn with mscale": (
        RopeConfig(
            10_000.0, "yarn", 40.0, original_max_positions=128, mscale=0.7, mscale_all_dim=1.1
        ),
        {
            "rope_type": "yarn",
            "factor": 40.0,
            "original_max_position_embeddings": 128,
            "mscale": 0.7,
            "mscale_all_dim": 1.1,
        },
    ),
}


@pytest.mark.parametrize("name", SCALINGS)
def test_the_table_is_that_of_transformers(name: str) -> None:
    rope, parameters = SCALINGS[name]
    config = LlamaConfig(
        hidden_size=HEAD_DIM,
        num_attention_heads=1,
        max_position_embeddings=POSITIONS,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0, **parameters},
    )
    expected = LlamaRotaryEmbedding(config)(torch.zeros(1), torch.arange(POSITIONS)[None])
    for ours, theirs in zip(
        rope_table(rope, HEAD_DIM, POSITIONS, torch.device("cpu")), expected, strict=True
    ):
        assert ours.dtype == torch.float32
        torch.testing.assert_close(ours, theirs[0], atol=2e-4, rtol=0)


def test_divisors_reproduce_the_scaling_they_were_made_from() -> None:
    """llama.cpp's converter writes llama3 scaling as base frequency / scaled frequency."""
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    llama3, parameters = SCALINGS["llama3"]
    config = LlamaConfig(hidden_size=HEAD_DIM, num_attention_heads=1, rope_parameters=parameters)
    scaled, _ = ROPE_INIT_FUNCTIONS["llama3"](config, torch.device("cpu"))
    base = 1.0 / llama3.theta ** (torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    stored = RopeConfig(llama3.theta, "divisors", divisors=tuple((base / scaled).tolist()))
    for ours, expected in zip(
        rope_table(stored, HEAD_DIM, POSITIONS, torch.device("cpu")),
        rope_table(llama3, HEAD_DIM, POSITIONS, torch.device("cpu")),
        strict=True,
    ):
        torch.testing.assert_close(ours, expected, atol=2e-4, rtol=0)
