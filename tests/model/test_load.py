"""Loading a checkpoint: what must be refused, what the digest stands for, dummy weights."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from headstart.model.errors import ModelError
from headstart.model.load import LoadedModel, load_model

CPU = torch.device("cpu")


@pytest.fixture
def checkpoint(tiny_checkpoint: Callable[..., Path], tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(tiny_checkpoint(), tmp_path / "tiny"))


def load(path: Path, **options: Any) -> LoadedModel:
    return load_model(str(path), **{"dtype": torch.float32, "device": CPU, **options})


def change_tensors(checkpoint: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    file = checkpoint / "model.safetensors"
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file)


def test_the_parts_of_a_model_belong_together(checkpoint: Path) -> None:
    model = load(checkpoint, dtype=torch.bfloat16)
    assert model.name == "tiny"
    assert model.weights.embed.dtype == torch.bfloat16
    assert model.codec.vocab_size == model.config.vocab_size == len(model.weights.embed)
    assert len(model.digest) == 32


def test_shards_are_the_same_model_as_one_file(checkpoint: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    shards = Path(shutil.copytree(checkpoint, tmp_path / "shards"))
    (shards / "model.safetensors").unlink()
    AutoModelForCausalLM.from_pretrained(checkpoint).save_pretrained(shards, max_shard_size="100KB")
    assert len(list(shards.glob("*.safetensors"))) > 2
    whole, sharded = load(checkpoint).weights, load(shards).weights
    assert torch.equal(whole.embed, sharded.embed)
    assert torch.equal(whole.head, sharded.head)
    for one, other in zip(whole.layers, sharded.layers, strict=True):
        assert torch.equal(one.qkv, other.qkv)
        assert torch.equal(one.down, other.down)
    missing = sorted(shards.glob("*.safetensors"))[1]
    missing.unlink()
    with pytest.raises(ModelError, match=f"lacks {missing.name}"):
        load(shards)


def test_a_missing_tensor_is_refused_by_name(checkpoint: Path) -> None:
    name = "model.layers.1.mlp.down_proj.weight"
    change_tensors(checkpoint, lambda tensors: tensors.pop(name))
    with pytest.raises(ModelError, match=f"lacks tensor {name}"):
        load(checkpoint)


def test_an_unknown_tensor_is_refused_by_name(checkpoint: Path) -> None:
    name = "model.layers.0.self_attn.q_proj.bias"
    change_tensors(checkpoint, lambda tensors: tensors.update({name: torch.zeros(64)}))
    with pytest.raises(ModelError, match=f"has tensor {name}, which no llama model has"):
        load(checkpoint)


def test_copies_of_what_is_known_are_no_unknown_tensors(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    tied = tiny_checkpoint(tie_word_embeddings=True)
    checkpoint = Path(shutil.copytree(tied, tmp_path / "tied"))
    copies = {
        "lm_head.weight": torch.zeros(400, 64),
        "model.layers.0.self_attn.rotary_emb.inv_freq": torch.zeros(8),
    }
    change_tensors(checkpoint, lambda tensors: tensors.update(copies))
    weights = load(checkpoint).weights
    assert weights.head is weights.embed


def test_a_wrong_shape_is_refused_by_name(checkpoint: Path) -> None:
    name = "model.layers.0.mlp.up_proj.weight"
    change_tensors(checkpoint, lambda tensors: tensors.update({name: torch.zeros(95, 64)}))
    with pytest.raises(ModelError, match=rf"tensor {name} has shape \[95, 64\].*\[96, 64\]"):
        load(checkpoint)


def test_quantised_tensors_are_refused_by_name(checkpoint: Path) -> None:
    name = "model.layers.0.mlp.up_proj.weight"
    quantised = torch.zeros(96, 64, dtype=torch.int8)
    change_tensors(checkpoint, lambda tensors: tensors.update({name: quantised}))
    with pytest.raises(ModelError, match=rf"tensor {name} is torch\.int8"):
        load(checkpoint)


@pytest.mark.parametrize("length", [0, 7, 100, -1])
def test_a_truncated_file_is_refused_by_name(checkpoint: Path, length: int) -> None:
    file = checkpoint / "model.safetensors"
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(ModelError, match=r"model\.safetensors is cut short"):
        load(checkpoint)


def test_a_pickled_checkpoint_is_refused_with_a_way_out(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").rename(checkpoint / "pytorch_model.bin")
    with pytest.raises(ModelError, match="must be saved as safetensors first"):
        load(checkpoint)


def test_the_digest_is_of_the_content_not_of_place_or_dtype_id(
    checkpoint: Path, tmp_path: Path
) -> None:
    moved = Path(shutil.copytree(checkpoint, tmp_path / "moved"))
    assert load(moved, dtype=torch.bfloat16).digest == load(checkpoint).digest


def test_other_weights_under_the_same_name_have_another_digest_id(checkpoint: Path) -> None:
    before = load(checkpoint).digest
    name = "model.layers.1.mlp.up_proj.weight"
    change_tensors(checkpoint, lambda tensors: tensors[name][0, 0].add_(1e-3))
    assert load(checkpoint).digest != before


def test_another_config_over_the_same_weights_has_another_digest_id(checkpoint: Path) -> None:
    before = load(checkpoint).digest
    file = checkpoint / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "rms_norm_eps": 1e-3}))
    assert load(checkpoint).digest != before


def test_dummy_weights_are_random_but_always_the_same(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").unlink()
    one, two = (load(checkpoint, load_format="dummy") for _ in range(2))
    assert one.digest == two.digest
    assert torch.equal(one.weights.layers[0].qkv, two.weights.layers[0].qkv)
    assert not torch.equal(one.weights.layers[0].qkv, one.weights.layers[1].qkv)
    for layer in one.weights.layers:
        assert layer.down.std() == pytest.approx(0.02, rel=0.05)
        assert torch.equal(layer.attn_norm, torch.ones(64))


def test_dummy_and_real_weights_of_one_config_have_different_digests_id(checkpoint: Path) -> None:
    assert load(checkpoint, load_format="dummy").digest != load(checkpoint).digest


def test_a_lone_config_takes_the_default_models_tokenizer_and_says_so(
    checkpoint: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = json.loads((checkpoint / "config.json").read_text())
    alone = tmp_path / "wide.json"
    alone.write_text(json.dumps({**config, "vocab_size": 50000}))
    with pytest.raises(ModelError, match=r"without weights.*--load-format dummy"):
        load(alone)
    model = load(alone, load_format="dummy")
    assert model.name == "wide"
    assert model.codec.vocab_size == 49152
    assert "smollm2-135m-instruct" in caplog.text
    alone.write_text(json.dumps({**config, "vocab_size": 400}))
    with pytest.raises(ModelError, match="vocab_size = 400 is too small"):
        load(alone, load_format="dummy")
