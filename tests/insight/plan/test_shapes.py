"""KV, windows and states of the architectures, against the project's reference table (4b)."""

import pytest

from headstart.insight.plan.catalogue import find
from headstart.insight.plan.config import parse_config
from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.kv_types import KV_TYPES
from headstart.insight.plan.mixers.latent import Latent
from headstart.insight.plan.shape import Shape

BF16, FP8, INT8, PACKED = (KV_TYPES[name] for name in ("bf16", "fp8", "int8", "fp8_ds_mla"))
MIB, GIB = 2**20, 2**30

TABLE = [
    ("llama-2-7b", 524_288, 64),
    ("llama-3.1-8b", 131_072, 16),
    ("llama-3.1-70b", 327_680, 40),
    ("llama-3.1-405b", 516_096, 63),
    ("llama-4-scout", 49_152, 7.1),
    ("mixtral-8x7b", 131_072, 16),
    ("mistral-nemo-12b", 163_840, 20),
    ("qwen2.5-7b", 57_344, 7),
    ("qwen3-8b", 147_456, 18),
    ("qwen3-14b", 163_840, 20),
    ("qwen3-32b", 262_144, 32),
    ("qwen3-30b-a3b", 98_304, 12),
    ("qwen3-235b-a22b", 192_512, 23.5),
    ("minimax-m2.5", 253_952, 31),
    ("deepseek-v3", 70_272, 8.6),
    ("kimi-k2", 70_272, 8.6),
    ("deepseek-v3.2", 78_324, 9.6),
    ("gpt-oss-20b", 24_576, 3.0),
    ("gpt-oss-120b", 36_864, 4.5),
    ("gemma-4-26b-a4b", 20_480, 2.7),
    ("mimo-v2-flash", 23_040, 2.8),
    ("qwen3.5-27b", 65_536, 8.1),
    ("qwen3.5-397b-a17b", 30_720, 3.9),
    ("nemotron-3-nano-30b", 6_144, 0.8),
]


def shape(name: str) -> Shape:
    return find(name).shape


@pytest.mark.parametrize(("name", "per_token", "gib"), TABLE)
def test_kv_per_token_and_of_a_long_context(name: str, per_token: int, gib: float) -> None:
    assert shape(name).kv_bytes(BF16) == per_token
    assert shape(name).prefix_bytes(128 * 1024, BF16) / GIB == pytest.approx(gib, abs=0.05)


@pytest.mark.parametrize(
    ("name", "mib"),
    [
        ("llama-4-scout", 1152),
        ("gpt-oss-20b", 3),
        ("gpt-oss-120b", 4.5),
        ("gemma-4-26b-a4b", 200),
        ("mimo-v2-flash", 24.375),  # The table rounds: 39 layers x 128 x 8 x (192 + 128) x 2 B.
    ],
)
def test_windows_and_chunks_stop_growing(name: str, mib: float) -> None:
    known = shape(name)
    assert known.window_bytes(BF16) / MIB == mib
    far = 1_000_000
    assert known.prefix_bytes(far + 1, BF16) - known.prefix_bytes(far, BF16) == known.kv_bytes(BF16)


def test_before_a_window_is_full_it_grows_with_the_prompt() -> None:
    """gpt-oss: half of 24 layers, 8 heads of 64, window 128."""
    per_layer = 2 * 8 * 64 * 2
    assert shape("gpt-oss-20b").prefix_bytes(100, BF16) == 24 * per_layer * 100
    assert shape("gpt-oss-20b").prefix_bytes(200, BF16) == 12 * per_layer * (200 + 128)


@pytest.mark.parametrize(
    ("name", "mib"), [("qwen3.5-27b", 147), ("qwen3.5-397b-a17b", 183), ("nemotron-3-nano-30b", 47)]
)
def test_states_of_recurrent_layers(name: str, mib: float) -> None:
    assert shape(name).state_bytes() / MIB == pytest.approx(mib, abs=0.5)


def test_the_state_of_nemotron_h_56b() -> None:
    """54 Mamba-2 layers of 256 x 64 x 256: 870 MiB, which is 22,000 tokens of its KV."""
    config = {
        "model_type": "nemotron_h",
        "hidden_size": 8192,
        "intermediate_size": 32_768,
        "hybrid_override_pattern": "M" * 54 + "*" * 10 + "-" * 54,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "attention_head_dim": 128,
        "mamba_num_heads": 256,
        "mamba_head_dim": 64,
        "n_groups": 8,
        "ssm_state_size": 256,
        "conv_kernel": 4,
        "vocab_size": 131_072,
    }
    parsed = parse_config(config, name="nemotron-h-56b")
    assert parsed.kv_bytes(BF16) == 40_960
    assert parsed.state_bytes() / MIB == pytest.approx(870, abs=0.5)
    assert parsed.state_bytes() / parsed.kv_bytes(BF16) == pytest.approx(22_000, rel=0.02)


def test_a_cached_prefix_of_a_hybrid_is_its_kv_and_one_state() -> None:
    """Qwen3.5-27B: a checkpoint weighs as much as 2,349 tokens."""
    known = shape("qwen3.5-27b")
    assert known.prefix_bytes(1000, BF16) == 1000 * 65_536 + known.state_bytes()
    assert known.state_bytes() / 65_536 == pytest.approx(2349, abs=1)


def test_smaller_types_halve_keys_and_values_but_no_state() -> None:
    for name in ("llama-3-8b", "deepseek-v3", "qwen3.5-27b"):
        known = shape(name)
        for kind in (FP8, INT8):
            assert known.kv_bytes(kind) * 2 == known.kv_bytes(BF16)
        state = known.prefix_bytes(10, FP8) - 10 * known.kv_bytes(FP8)
        assert state == known.state_bytes()


def test_packed_latents_are_656_bytes_a_layer() -> None:
    """vLLM's fp8_ds_mla: 512 fp8, 16 of scales, 128 of rope: 61 layers are 40,016 bytes."""
    assert shape("deepseek-v3").kv_bytes(PACKED) == 61 * 656 == 40_016
    with pytest.raises(PlanError, match="for latent attention"):
        shape("llama-3-8b").kv_bytes(PACKED)


def test_ranks_split_heads_and_repeat_latents() -> None:
    """8 KV heads: an eighth each on 8 GPUs, no less on 16; MLA is whole on each."""
    llama, deepseek = shape("llama-3-70b"), shape("deepseek-v3")
    assert [llama.kv_bytes(BF16, ranks) for ranks in (1, 3, 8, 16)] == [
        327_680, 3 * 40_960, 40_960, 40_960,
    ]  # fmt: skip
    assert deepseek.kv_bytes(BF16, 8) == 70_272


def test_an_indexer_attends_to_what_it_chose_and_looks_at_all() -> None:
    """4b: 128 fp8 and 4 bytes of scale beside the latent; 2,048 positions are attended to."""
    layer = shape("deepseek-v3.2").layers[0][1].mixer
    assert isinstance(layer, Latent)
    assert layer.kv_bytes(BF16) == (512 + 64) * 2 + 128 + 4
    pair, look = 2 * 128 * (128 + 64 + 128), 2 * 64 * 128
    assert layer.attention(9_999, 10_000) == pair * 2048 + look * 10_000
    assert layer.attention(99, 100) == (pair + look) * 100


def test_a_latent_hit_expands_what_it_reads() -> None:
    """kv_b: 512 latents to 128 heads of 128 + 128, two operations each, 61 layers."""
    assert shape("deepseek-v3").resumed(1000) == 61 * 2 * 512 * 128 * 256 * 1000
    assert shape("llama-3-8b").resumed(1000) == 0


def test_a_few_tokens_do_not_read_all_experts() -> None:
    mixtral = shape("mixtral-8x7b")
    experts = 32 * 8 * 3 * 4096 * 14_336
    assert mixtral.parameters - mixtral.touched(1) == pytest.approx(experts * 6 / 8)
    assert mixtral.touched(1000) == mixtral.parameters
