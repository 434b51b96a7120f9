"""Oracle: transformers with the same GGUF file, dequantised by itself, in fp32."""

from pathlib import Path
from typing import Any

import pytest
import torch

from headstart.model.decoder import Decoder
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


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return load_model("smollm2-135m-instruct", dtype=torch.float32, device=CPU)


@pytest.fixture(scope="module")
def reference(default_model_path: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(
        default_model_path.parent, gguf_file=default_model_path.name, dtype=torch.float32
    )


def test_weights_are_equal(model: LoadedModel, reference: Any) -> None:
    ours, theirs = model.weights, reference.state_dict()
    assert torch.equal(ours.embed, theirs["model.embed_tokens.weight"])
    assert torch.equal(ours.norm, theirs["model.norm.weight"])
    assert len(ours.layers) == reference.config.num_hidden_layers
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


def test_the_shape_is_equal(model: LoadedModel, reference: Any) -> None:
    ours, theirs = model.config, reference.config
    assert ours.context_length == theirs.max_position_embeddings
    assert ours.rope.theta == theirs.rope_parameters["rope_theta"]
    assert ours.norm_eps == theirs.rms_norm_eps
    assert ours.eos_ids == (theirs.eos_token_id,)
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
