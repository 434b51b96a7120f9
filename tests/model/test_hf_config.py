"""Oracle: how transformers reads the same `config.json`, published ones in shape and wording."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoConfig

from headstart.model.errors import ModelError
from headstart.model.hf_config import parse_hf_config, read_hf_config

LLAMA_3_2: Mapping[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "bos_token_id": 128000,
    "eos_token_id": [128001, 128008, 128009],
    "head_dim": 64,
    "hidden_act": "silu",
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "max_position_embeddings": 131072,
    "mlp_bias": False,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 16,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-05,
    "rope_scaling": {
        "factor": 32.0,
        "high_freq_factor": 4.0,
        "low_freq_factor": 1.0,
        "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    },
    "rope_theta": 500000.0,
    "tie_word_embeddings": True,
    "vocab_size": 128256,
}
MISTRAL_7B: Mapping[str, Any] = {
    "architectures": ["MistralForCausalLM"],
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_act": "silu",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 32768,
    "model_type": "mistral",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-05,
    "rope_theta": 1000000.0,
    "sliding_window": None,
    "tie_word_embeddings": False,
    "vocab_size": 32768,
}
QWEN2_5: Mapping[str, Any] = {
    "architectures": ["Qwen2ForCausalLM"],
    "bos_token_id": 151643,
    "eos_token_id": 151645,
    "hidden_act": "silu",
    "hidden_size": 896,
    "intermediate_size": 4864,
    "max_position_embeddings": 32768,
    "max_window_layers": 21,
    "model_type": "qwen2",
    "num_attention_heads": 14,
    "num_hidden_layers": 24,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-06,
    "rope_theta": 1000000.0,
    "sliding_window": 32768,
    "tie_word_embeddings": True,
    "use_sliding_window": False,
    "vocab_size": 151936,
}
QWEN3: Mapping[str, Any] = {
    "architectures": ["Qwen3ForCausalLM"],
    "attention_bias": False,
    "eos_token_id": 151645,
    "head_dim": 128,
    "hidden_act": "silu",
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "max_position_embeddings": 40960,
    "model_type": "qwen3",
    "num_attention_heads": 16,
    "num_hidden_layers": 28,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-06,
    "rope_theta": 1000000,
    "tie_word_embeddings": True,
    "use_sliding_window": False,
    "vocab_size": 151936,
}
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "llama 3.2": LLAMA_3_2,
    "llama without key-value heads or scaling": {
        **{k: v for k, v in LLAMA_3_2.items() if k not in ("num_key_value_heads", "head_dim")},
        "rope_scaling": None,
    },
    "llama with linear scaling": {**LLAMA_3_2, "rope_scaling": {"type": "linear", "factor": 2.0}},
    "mistral": MISTRAL_7B,
    "qwen2.5": QWEN2_5,
    "qwen2.5 with yarn": {**QWEN2_5, "rope_scaling": YARN},
    "qwen3": QWEN3,
}


def write(folder: Path, config: Mapping[str, Any]) -> Path:
    file = folder / "config.json"
    file.write_text(json.dumps(config))
    return file


@pytest.mark.parametrize("name", PUBLISHED)
def test_shapes_are_those_transformers_reads(tmp_path: Path, name: str) -> None:
    file = write(tmp_path, PUBLISHED[name])
    ours, theirs = read_hf_config(file), AutoConfig.from_pretrained(tmp_path)
    assert ours.family == theirs.model_type
    assert ours.vocab_size == theirs.vocab_size
    assert ours.hidden_size == theirs.hidden_size
    assert ours.layers == theirs.num_hidden_layers
    assert ours.query_heads == theirs.num_attention_heads
    assert ours.kv_heads == theirs.num_key_value_heads
    width = theirs.to_dict().get("head_dim") or theirs.hidden_size // theirs.num_attention_heads
    assert ours.head_dim == width
    assert ours.ffn_size == theirs.intermediate_size
    assert ours.norm_eps == theirs.rms_norm_eps
    assert ours.tied_head == theirs.tie_word_embeddings
    assert ours.bos_id == theirs.bos_token_id
    ends = theirs.eos_token_id
    assert list(ours.eos_ids) == (ends if isinstance(ends, list) else [ends])


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_form_transformers_5_writes_means_the_same(tmp_path: Path, name: str) -> None:
    old = read_hf_config(write(tmp_path, PUBLISHED[name]))
    AutoConfig.from_pretrained(tmp_path).save_pretrained(tmp_path)
    rewritten = json.loads((tmp_path / "config.json").read_text())
    assert "rope_parameters" in rewritten
    assert "rope_scaling" not in rewritten
    assert read_hf_config(tmp_path / "config.json") == old


def test_yarn_stretches_the_context_that_the_config_names() -> None:
    """Qwen2.5's model card: YaRN with factor 4 takes 32,768 positions to 131,072."""
    assert parse_hf_config(QWEN2_5, {}).context_length == 32768
    assert parse_hf_config({**QWEN2_5, "rope_scaling": YARN}, {}).context_length == 131072


def test_yarn_does_not_stretch_a_context_that_is_stretched_already() -> None:
    stretched = {**QWEN2_5, "rope_scaling": YARN, "max_position_embeddings": 131072}
    assert parse_hf_config(stretched, {}).context_length == 131072


def test_end_ids_of_the_generation_config_count_too(tmp_path: Path) -> None:
    file = write(tmp_path, QWEN2_5)
    ends = {"eos_token_id": [151645, 151643]}
    (tmp_path / "generation_config.json").write_text(json.dumps(ends))
    assert read_hf_config(file).eos_ids == (151645, 151643)


@pytest.mark.parametrize(
    ("config", "change", "named"),
    [
        (LLAMA_3_2, {"architectures": ["MixtralForCausalLM"]}, "MixtralForCausalLM"),
        (LLAMA_3_2, {"architectures": None, "model_type": "gpt2"}, "gpt2"),
        (LLAMA_3_2, {"attention_bias": True}, "attention_bias"),
        (LLAMA_3_2, {"mlp_bias": True}, "mlp_bias"),
        (LLAMA_3_2, {"hidden_act": "gelu"}, "hidden_act = gelu"),
        (LLAMA_3_2, {"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
        (LLAMA_3_2, {"quantization_config": {"quant_method": "gptq"}}, "gptq"),
        (LLAMA_3_2, {"rope_scaling": {"type": "dynamic", "factor": 2.0}}, "'dynamic'"),
        (LLAMA_3_2, {"rope_scaling": {"rope_type": "longrope"}}, "'longrope'"),
        (LLAMA_3_2, {"rope_scaling": {"rope_type": "linear"}}, "factor"),
        (LLAMA_3_2, {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, "low_freq_factor"),
        (LLAMA_3_2, {"rope_scaling": {"type": "yarn", "factor": "four"}}, "factor"),
        (LLAMA_3_2, {"num_hidden_layers": None}, "num_hidden_layers"),
        (LLAMA_3_2, {"hidden_size": "large"}, "hidden_size"),
        (LLAMA_3_2, {"num_key_value_heads": 5}, "num_attention_heads = 32 is no multiple"),
        (LLAMA_3_2, {"head_dim": 63}, "head_dim = 63"),
        (MISTRAL_7B, {"sliding_window": 4096}, "sliding_window = 4096"),
        (QWEN2_5, {"use_sliding_window": True, "sliding_window": 4096}, "sliding_window = 4096"),
        (QWEN3, {"attention_bias": True}, "attention_bias"),
    ],
)
def test_what_would_be_computed_wrongly_is_refused_by_name_feat(
    config: Mapping[str, Any], change: Mapping[str, Any], named: str
) -> None:
    with pytest.raises(ModelError, match=named):
        parse_hf_config({**config, **change}, {})


def test_a_window_that_a_config_leaves_out_is_the_familys_feat(tmp_path: Path) -> None:
    silent = {name: value for name, value in MISTRAL_7B.items() if name != "sliding_window"}
    write(tmp_path, silent)
    window = AutoConfig.from_pretrained(tmp_path).sliding_window
    with pytest.raises(ModelError, match=f"sliding_window = {window}"):
        parse_hf_config(silent, {})


@pytest.mark.parametrize(
    ("config", "change"),
    [
        (MISTRAL_7B, {"sliding_window": 32768}),
        (QWEN2_5, {"use_sliding_window": False, "sliding_window": 4096}),
        (QWEN2_5, {"use_sliding_window": True, "sliding_window": 4096, "max_window_layers": 24}),
        (QWEN2_5, {"use_sliding_window": True, "sliding_window": 32768}),
    ],
)
def test_a_window_that_is_not_in_force_is_accepted_feat(
    config: Mapping[str, Any], change: Mapping[str, Any]
) -> None:
    assert parse_hf_config({**config, **change}, {}).context_length == 32768


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_broken_config_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ModelError, match=r"config\.json is not"):
        read_hf_config(tmp_path / "config.json")
