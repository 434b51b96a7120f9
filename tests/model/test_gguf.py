"""GGUF files: tiny ones, laid out as llama.cpp's converter does it.

Oracle for a tiny file: the safetensors checkpoint it was converted from, tensor by tensor.
"""

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from headstart.model.assemble import assemble
from headstart.model.config import ModelConfig, RopeConfig
from headstart.model.errors import ModelError
from headstart.model.gguf_config import gguf_config
from headstart.model.gguf_file import read_gguf
from headstart.model.gguf_source import GgufSource
from headstart.model.hf_config import read_hf_config
from headstart.model.safetensors_source import open_safetensors, weight_files
from headstart.model.weights import Weights

CPU = torch.device("cpu")
PLACES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
}


def place(name: str) -> str:
    """Where llama.cpp puts a tensor of Hugging Face's."""
    module, _, kind = name.rpartition(".")
    if not module.startswith("model.layers."):
        return f"{PLACES[module]}.{kind}"
    _, _, number, inner = module.split(".", 3)
    return f"blk.{number}.{PLACES[inner]}.{kind}"


def permute(rows: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """llama.cpp, convert_hf_to_gguf.py: what happens to q and k of a llama model."""
    halves = rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:])
    return halves.swapaxes(1, 2).reshape(rows.shape)


def convert(
    checkpoint: Path,
    target: Path,
    *,
    drop: str = "",
    extra: dict[str, np.ndarray[Any, Any]] | None = None,
    change: Callable[[gguf.GGUFWriter], object] = lambda writer: None,
) -> Path:
    """Write the checkpoint as a GGUF file in fp32."""
    config = json.loads((checkpoint / "config.json").read_text())
    family = config["model_type"]
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    writer = gguf.GGUFWriter(target, family)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    if config.get("head_dim"):
        writer.add_key_length(config["head_dim"])
        writer.add_value_length(config["head_dim"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    change(writer)
    for name, tensor in load_file(checkpoint / "model.safetensors").items():
        values = tensor.numpy()
        if family == "llama" and ".q_proj" in name:
            values = permute(values, heads)
        if family == "llama" and ".k_proj" in name:
            values = permute(values, kv_heads)
        if place(name) != drop:
            writer.add_tensor(place(name), np.ascontiguousarray(values))
    for name, values in (extra or {}).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target


def load_gguf(path: Path) -> tuple[ModelConfig, Weights]:
    file = read_gguf(path)
    config = gguf_config(file)
    return config, assemble(GgufSource(file, config), config, torch.float32, CPU)


def load_safetensors(path: Path) -> tuple[ModelConfig, Weights]:
    config = read_hf_config(path / "config.json")
    with open_safetensors(weight_files(path)) as source:
        return config, assemble(source, config, torch.float32, CPU)


def tensors(weights: Weights) -> Iterator[torch.Tensor]:
    yield from (weights.embed, weights.norm, weights.head)
    for layer in weights.layers:
        for field in dataclasses.fields(layer):
            if (tensor := getattr(layer, field.name)) is not None:
                yield tensor


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3"])
def test_a_converted_checkpoint_has_the_config_and_weights_of_the_original(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path, family: str, tied: bool
) -> None:
    checkpoint = tiny_checkpoint(family, tie_word_embeddings=tied)
    config, weights = load_gguf(convert(checkpoint, tmp_path / "tiny.gguf"))
    expected_config, expected = load_safetensors(checkpoint)
    # GGUF stores these in single precision.
    assert config.norm_eps == pytest.approx(expected_config.norm_eps, rel=1e-6)
    assert dataclasses.replace(config, norm_eps=expected_config.norm_eps) == expected_config
    pairs = list(zip(tensors(weights), tensors(expected), strict=True))
    assert len(pairs) > 10
    assert all(torch.equal(ours, theirs) for ours, theirs in pairs)
    assert (weights.head is weights.embed) == tied


@pytest.mark.parametrize(
    ("change", "rope"),
    [
        (
            lambda writer: (
                writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR),
                writer.add_rope_scaling_factor(4.0),
            ),
            RopeConfig(10_000.0, "linear", 4.0),
        ),
        (
            lambda writer: (
                writer.add_rope_scaling_type(gguf.RopeScalingType.YARN),
                writer.add_rope_scaling_factor(4.0),
                writer.add_rope_scaling_orig_ctx_len(256),
            ),
            RopeConfig(10_000.0, "yarn", 4.0, original_max_positions=256),
        ),
        (
            lambda writer: writer.add_rope_scaling_type(gguf.RopeScalingType.NONE),
            RopeConfig(10_000.0),
        ),
    ],
)
def test_rope_scaling_is_read_from_the_metadata(
    tiny_checkpoint: Callable[..., Path],
    tmp_path: Path,
    change: Callable[[gguf.GGUFWriter], object],
    rope: RopeConfig,
) -> None:
    path = convert(tiny_checkpoint(), tmp_path / "tiny.gguf", change=change)
    assert gguf_config(read_gguf(path)).rope == rope


def test_llama3_scaling_is_read_from_its_tensor(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    divisors = np.array([1, 1, 1, 1, 2, 4, 8, 8], dtype=np.float32)
    path = convert(tiny_checkpoint(), tmp_path / "t.gguf", extra={"rope_freqs.weight": divisors})
    config, _ = load_gguf(path)
    assert config.rope == RopeConfig(10_000.0, "divisors", divisors=tuple(divisors.tolist()))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda writer: writer.add_expert_count(8), "llama.expert_count = 8"),
        (lambda writer: writer.add_logit_scale(2.0), "llama.logit_scale"),
        (lambda writer: writer.add_sliding_window(256), "sliding_window = 256"),
        (lambda writer: writer.add_rope_dimension_count(8), "rope.dimension_count = 8"),
        (
            lambda writer: writer.add_rope_scaling_type(gguf.RopeScalingType.LONGROPE),
            "'longrope'",
        ),
    ],
)
def test_what_would_be_computed_wrongly_is_refused_by_name_feat(
    tiny_checkpoint: Callable[..., Path],
    tmp_path: Path,
    change: Callable[[gguf.GGUFWriter], object],
    named: str,
) -> None:
    path = convert(tiny_checkpoint(), tmp_path / "tiny.gguf", change=change)
    with pytest.raises(ModelError, match=named):
        gguf_config(read_gguf(path))


def test_another_architecture_is_refused_by_name(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "mamba")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(ModelError, match="mamba is not supported"):
        gguf_config(read_gguf(tmp_path / "a.gguf"))


def test_a_missing_tensor_is_refused_by_name(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    path = convert(tiny_checkpoint(), tmp_path / "tiny.gguf", drop="blk.1.ffn_up.weight")
    with pytest.raises(ModelError, match=r"lacks tensor model\.layers\.1\.mlp\.up_proj\.weight"):
        load_gguf(path)


def test_an_unknown_tensor_is_refused_by_name(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    extra = {"blk.0.attn_sinks.weight": np.zeros(4, dtype=np.float32)}
    path = convert(tiny_checkpoint(), tmp_path / "tiny.gguf", extra=extra)
    with pytest.raises(ModelError, match=r"blk\.0\.attn_sinks\.weight"):
        load_gguf(path)


def test_a_bias_that_llama_models_do_not_have_is_refused_by_name(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    extra = {"blk.0.attn_q.bias": np.zeros(64, dtype=np.float32)}
    path = convert(tiny_checkpoint(), tmp_path / "tiny.gguf", extra=extra)
    with pytest.raises(ModelError, match=r"self_attn\.q_proj\.bias"):
        load_gguf(path)


def test_a_file_cut_within_its_data_is_refused_with_the_tensors_name(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    path = convert(tiny_checkpoint(), tmp_path / "tiny.gguf")
    last = max(gguf.GGUFReader(path).tensors, key=lambda tensor: tensor.data_offset)
    path.write_bytes(path.read_bytes()[: last.data_offset + last.n_bytes - 1])
    with pytest.raises(ModelError, match=f"ends within tensor {last.name}"):
        load_gguf(path)


def test_a_file_cut_anywhere_in_its_header_is_refused(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    whole = convert(tiny_checkpoint(), tmp_path / "tiny.gguf").read_bytes()
    header = min(tensor.offset for tensor in read_gguf(tmp_path / "tiny.gguf").tensors.values())
    cut = tmp_path / "cut.gguf"
    for length in [*range(1, 40), *range(40, header - 32, 97)]:
        cut.write_bytes(whole[:length])
        with pytest.raises(ModelError, match=r"cut\.gguf is"):
            read_gguf(cut)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 a zip file", b"GGUF\x01\x00\x00\x00" * 4])
def test_what_is_no_gguf_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.gguf").write_bytes(content)
    with pytest.raises(ModelError, match=r"a\.gguf is (empty|no GGUF file|of GGUF version 1)"):
        read_gguf(tmp_path / "a.gguf")
