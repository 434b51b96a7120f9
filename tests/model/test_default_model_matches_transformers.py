"""Oracles for the real file: the `gguf` package reads it, transformers computes with it (fp32)."""

from pathlib import Path
from typing import Any

import gguf
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from headstart.model.config import RopeConfig
from headstart.model.decoder import Decoder
from headstart.model.gguf_file import read_gguf
from headstart.model.kv import KVPool
from headstart.model.load import LoadedModel, load_model
from headstart.model.runner import Runner, Slice

pytestmark = pytest.mark.slow

CPU = torch.device("cpu")
PROMPT = (
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    "<|im_end|>\n<|im_start|>user\nWhat is the capital of France?<|im_end|>\n"
    "<|im_start|>assistant\n"
)
NEW_TOKENS = 24
# config.json of SmolLM2-135M-Instruct.
PUBLISHED: dict[str, Any] = {
    "hidden_size": 576,
    "intermediate_size": 1536,
    "max_position_embeddings": 8192,
    "num_attention_heads": 9,
    "num_hidden_layers": 30,
    "num_key_value_heads": 3,
    "rms_norm_eps": 1e-05,
    "rope_theta": 100000,
    "tie_word_embeddings": True,
    "vocab_size": 49152,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
# GGUF's module name → Hugging Face's.
NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "attn_norm": "model.layers.{}.input_layernorm",
    "ffn_norm": "model.layers.{}.post_attention_layernorm",
    "attn_q": "model.layers.{}.self_attn.q_proj",
    "attn_k": "model.layers.{}.self_attn.k_proj",
    "attn_v": "model.layers.{}.self_attn.v_proj",
    "attn_output": "model.layers.{}.self_attn.o_proj",
    "ffn_gate": "model.layers.{}.mlp.gate_proj",
    "ffn_up": "model.layers.{}.mlp.up_proj",
    "ffn_down": "model.layers.{}.mlp.down_proj",
}


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return load_model("smollm2-135m-instruct", dtype=torch.float32, device=CPU)


@pytest.fixture(scope="module")
def reader(default_model_path: Path) -> gguf.GGUFReader:
    return gguf.GGUFReader(default_model_path)


@pytest.fixture(scope="module")
def reference(reader: gguf.GGUFReader) -> Any:
    """transformers' Llama in the published shape, filled from the file as llama.cpp lays it out."""
    model = LlamaForCausalLM(LlamaConfig(**PUBLISHED))
    heads = {"attn_q": PUBLISHED["num_attention_heads"], "attn_k": PUBLISHED["num_key_value_heads"]}
    state = {}
    for tensor in reader.tensors:
        weights = torch.tensor(gguf.dequantize(tensor.data, tensor.tensor_type))
        module, kind = tensor.name.split(".")[-2:]
        if module in heads:
            # convert_hf_to_gguf.py swaps these two axes; swapped again they are back.
            pairs = weights.unflatten(0, (heads[module], -1, 2))
            weights = pairs.transpose(1, 2).reshape(weights.shape)
        number = tensor.name.split(".")[1] if tensor.name.startswith("blk.") else ""
        state[NAMES[module].format(number) + f".{kind}"] = weights
    model.load_state_dict(state | {"lm_head.weight": state["model.embed_tokens.weight"]})
    return model.eval()


def test_weights_are_equal(model: LoadedModel, reference: Any) -> None:
    ours, theirs = model.weights, reference.state_dict()
    assert torch.equal(ours.embed, theirs["model.embed_tokens.weight"])
    assert torch.equal(ours.norm, theirs["model.norm.weight"])
    assert len(ours.layers) == PUBLISHED["num_hidden_layers"]
    for number, layer in enumerate(ours.layers):
        prefix = f"model.layers.{number}"
        parts = [theirs[f"{prefix}.self_attn.{name}_proj.weight"] for name in "qkv"]
        assert torch.equal(layer.qkv, torch.cat(parts))
        assert torch.equal(layer.out, theirs[f"{prefix}.self_attn.o_proj.weight"])
        gate, up = (theirs[f"{prefix}.mlp.{name}_proj.weight"] for name in ("gate", "up"))
        assert torch.equal(layer.gate_up, torch.cat((gate, up)))
        assert torch.equal(layer.down, theirs[f"{prefix}.mlp.down_proj.weight"])
        assert torch.equal(layer.attn_norm, theirs[f"{prefix}.input_layernorm.weight"])
        assert torch.equal(layer.mlp_norm, theirs[f"{prefix}.post_attention_layernorm.weight"])


def test_the_shape_is_the_published_one(model: LoadedModel) -> None:
    ours = model.config
    assert ours.context_length == PUBLISHED["max_position_embeddings"]
    assert ours.rope == RopeConfig(PUBLISHED["rope_theta"])
    assert ours.norm_eps == pytest.approx(PUBLISHED["rms_norm_eps"], rel=1e-6)
    assert (ours.bos_id, ours.eos_ids) == (1, (2,))
    assert ours.tied_head


@torch.inference_mode()
def test_greedy_text_is_equal(model: LoadedModel, reference: Any) -> None:
    prompt = model.codec.encode(PROMPT)
    length, block_size = len(prompt) + NEW_TOKENS, 16
    blocks = range(-(-length // block_size))
    pool = KVPool(
        model.config, blocks=len(blocks), block_size=block_size, dtype=torch.float32, device=CPU
    )
    runner = Runner(Decoder(model.config, model.weights, positions=length), pool)
    tokens = list(prompt)
    fresh = prompt
    while len(tokens) < length:
        start = len(tokens) - len(fresh)
        logits = runner.run([Slice(fresh, start, blocks, wants_logits=True)])
        fresh = [int(logits.argmax())]
        tokens += fresh
    # Every token is the reference's first choice behind the ones before: one pass says it of all.
    choices = reference(torch.tensor([tokens])).logits[0].argmax(-1).tolist()
    assert tokens[len(prompt) :] == choices[len(prompt) - 1 : -1]
    assert "Paris" in model.codec.decode(tokens[len(prompt) :])


def test_metadata_is_what_the_gguf_package_reads(
    default_model_path: Path, reader: gguf.GGUFReader
) -> None:
    ours = read_gguf(default_model_path)
    fields = {name: f for name, f in reader.fields.items() if not name.startswith("GGUF.")}
    assert ours.metadata.keys() == fields.keys()
    for name, field in fields.items():
        assert ours.metadata[name] == field.contents(), name
    assert {name: t.offset for name, t in ours.tensors.items()} == {
        tensor.name: tensor.data_offset for tensor in reader.tensors
    }
