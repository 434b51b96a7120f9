import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headstart.insight.plan.catalogue import find
from headstart.insight.plan.config import parse_config, read_config
from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.kv_types import KV_TYPES

BF16 = KV_TYPES["bf16"]
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 400,
}


def kv(**changed: Any) -> list[int]:
    """Bytes of 100 and of 1,000 tokens."""
    parsed = parse_config({**LLAMA, **changed}, name="x")
    return [parsed.prefix_bytes(tokens, BF16) for tokens in (100, 1000)]


PER_LAYER = 2 * 2 * 16 * 2


def test_a_directory_or_its_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    of_file = read_config(tmp_path / "config.json")
    assert read_config(tmp_path) == replace(of_file, name=tmp_path.name)


def test_of_several_towers_the_text_counts() -> None:
    nested = parse_config({"vision_config": {"hidden_size": 7}, "text_config": LLAMA}, name="x")
    assert nested == parse_config(LLAMA, name="x")


def test_an_unknown_architecture_is_read_as_a_llama_and_says_so() -> None:
    parsed = parse_config({**LLAMA, "model_type": "brand_new"}, name="x")
    assert not parsed.exact
    assert parsed.parameters == parse_config(LLAMA, name="x").parameters


def test_windows_where_configs_say_them() -> None:
    full, windowed = 4 * PER_LAYER * 1000, 4 * PER_LAYER * 200
    assert kv()[1] == full
    assert kv(model_type="mistral", sliding_window=200)[1] == windowed
    assert kv(model_type="mistral", sliding_window=None)[1] == full
    assert parse_config({**LLAMA, "model_type": "mistral"}, name="x").window_bytes(BF16) == (
        4 * PER_LAYER * 4096
    )
    assert kv(model_type="qwen2", sliding_window=200, use_sliding_window=False)[1] == full
    assert kv(model_type="qwen3", sliding_window=200)[1] == full
    assert kv(
        model_type="qwen2", sliding_window=200, use_sliding_window=True, max_window_layers=3
    ) == [4 * PER_LAYER * 100, PER_LAYER * (3 * 1000 + 200)]
    kinds = ["sliding_attention", "full_attention"] * 2
    assert kv(model_type="qwen3", layer_types=kinds, sliding_window=200, head_dim=16)[1] == (
        PER_LAYER * (2 * 1000 + 2 * 200)
    )


@pytest.mark.parametrize(
    ("quantization", "bits"),
    [
        ({"quant_method": "fp8"}, 8),
        ({"quant_method": "gptq", "bits": 4}, 4),
        ({"quant_method": "awq", "w_bit": 4}, 4),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": False}, 4),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, 8),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int"}}},
            },
            4,
        ),
        (None, 16),
    ],
)
def test_weights_have_the_bits_of_their_quantisation(quantization: Any, bits: int) -> None:
    """Of layers: embedding and head are none that these methods pack."""
    parsed = parse_config({**LLAMA, "quantization_config": quantization}, name="x")
    embedding = 2 * 400 * 64
    packed = (parsed.parameters - embedding) * bits // 8
    assert parsed.weight_bytes == packed + 2 * embedding


def test_a_packed_llama_weighs_what_its_checkpoint_does() -> None:
    """Llama-3.1-8B-Instruct-AWQ-INT4 on the Hub has 5.73 GB, of which the scales are 0.16."""
    shape = find("llama-3.1-8b").shape
    packed = replace(shape, weight_bits=4.0, quantized="awq")
    assert packed.weight_bytes == pytest.approx(5.73e9 - 0.16e9, rel=0.01)


@pytest.mark.parametrize(
    "field",
    [{"kv_lora_rank": 16}, {"num_experts": 4}, {"mamba_d_state": 16}, {"attn_layer_period": 8},
     {"num_kv_shared_layers": 2}, {"sliding_window": 128}],
)  # fmt: skip
def test_what_is_clearly_no_llama_is_not_read_as_one(field: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match="model_type brand_new is not known"):
        parse_config({**LLAMA, "model_type": "brand_new", **field}, name="x")


def test_the_layers_that_keep_everything_are_those_that_the_pattern_says() -> None:
    """Of 62 of Gemma 3's 27B ten have no window; of 42 of Gemma 2's 9B every other has one."""
    more = {"head_dim": 16, "sliding_window": 100, "num_hidden_layers": 62}
    layers = {"gemma3_text": 10, "gemma2": 31, "cohere2": 15}
    for family, full in layers.items():
        assert parse_config(LLAMA | more | {"model_type": family}, name="x").kv_bytes(BF16) == (
            full * PER_LAYER
        )
    assert kv(model_type="brand_new", sliding_window=100, sliding_window_pattern=2)[1] == (
        PER_LAYER * (2 * 100 + 2 * 1000)
    )


def test_mxfp4_packs_the_experts_only() -> None:
    """gpt-oss-20b: 19.1e9 of 20.9e9 parameters at 4.25 bits; OpenAI's checkpoint has 13.8 GB."""
    assert find("gpt-oss-20b").shape.weight_bytes == pytest.approx(13.76e9, rel=1e-3)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is not JSON"),
        (b"\x80\x02", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1]", "is not a JSON object"),
        (b"{}", "is missing"),
        (json.dumps({**LLAMA, "hidden_size": -1}).encode(), "hidden_size must be"),
        (json.dumps({**LLAMA, "num_hidden_layers": "4"}).encode(), "num_hidden_layers must be"),
        (json.dumps({**LLAMA, "num_hidden_layers": 10**9}).encode(), "is more than 10000"),
        (json.dumps({**LLAMA, "vocab_size": 10**30}).encode(), "vocab_size must be"),
        (json.dumps({**LLAMA, "layer_types": ["full_attention"]}).encode(), "a list of 4 layers"),
        (json.dumps({**LLAMA, "layer_types": ["odd"] * 4}).encode(), "layer_types has 'odd'"),
        (json.dumps({**LLAMA, "torch_dtype": "int3"}).encode(), "torch_dtype int3"),
        (json.dumps({**LLAMA, "num_key_value_heads": 3}).encode(), "no multiple of 3 KV heads"),
        (
            json.dumps({**LLAMA, "quantization_config": {"quant_method": "x"}}).encode(),
            "bits x has",
        ),
        (json.dumps({**LLAMA, "intermediate_size": None}).encode(), "intermediate_size is missing"),
    ],
)
def test_a_broken_config_is_one_line_that_names_the_file(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(content)
    with pytest.raises(PlanError, match=problem) as caught:
        read_config(file)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


def test_a_missing_config_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="can't be read: No such file"):
        read_config(tmp_path / "absent.json")
