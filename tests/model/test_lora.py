"""What adapters are accepted. That they compute what PEFT computes: the decoder's test."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from headstart.model.config import ModelConfig
from headstart.model.errors import ModelError
from headstart.model.hf_config import read_hf_config
from headstart.model.lora import Adapter, load_adapter

CPU = torch.device("cpu")
FIRST_Q = "base_model.model.model.layers.0.self_attn.q_proj"


@pytest.fixture(scope="module")
def config(tiny_checkpoint: Callable[..., Path]) -> ModelConfig:
    return read_hf_config(tiny_checkpoint() / "config.json")


@pytest.fixture(scope="module")
def saved(tiny_checkpoint: Callable[..., Path], tiny_adapter: Callable[..., Path]) -> Path:
    return tiny_adapter(tiny_checkpoint(), target_modules=["q_proj", "v_proj"])


@pytest.fixture
def adapter(saved: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(saved, tmp_path / "adapter"))


def load(path: Path, config: ModelConfig, name: str = "a") -> Adapter:
    return load_adapter(name, path, config, torch.float32, CPU)


def change_config(adapter: Path, **fields: Any) -> None:
    file = adapter / "adapter_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


def change_tensors(adapter: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    file = adapter / "adapter_model.safetensors"
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file)


def test_only_adapted_projections_are_filled(adapter: Path, config: ModelConfig) -> None:
    loaded = load(adapter, config)
    assert len(loaded.layers) == config.layers
    for layer in loaded.layers:
        assert layer.q is not None
        assert layer.v is not None
        assert [layer.k, layer.o, layer.gate, layer.up, layer.down] == [None] * 5


def test_two_adapters_of_one_name_with_different_weights_have_different_digests_id(
    adapter: Path, config: ModelConfig
) -> None:
    before = load(adapter, config)
    change_tensors(adapter, lambda tensors: tensors[f"{FIRST_Q}.lora_A.weight"].add_(1e-3))
    after = load(adapter, config)
    assert before.name == after.name
    assert before.digest != after.digest
    assert len(after.digest) == 32


def test_one_adapter_in_two_places_under_two_names_has_one_digest(
    saved: Path, adapter: Path, config: ModelConfig
) -> None:
    assert load(saved, config, "a").digest == load(adapter, config, "b").digest


def test_another_alpha_is_another_adapter(adapter: Path, saved: Path, config: ModelConfig) -> None:
    change_config(adapter, lora_alpha=32)
    assert load(adapter, config).digest != load(saved, config).digest


@pytest.mark.parametrize(
    "field",
    [
        {"use_dora": True},
        {"modules_to_save": ["lm_head"]},
        {"bias": "all"},
        {"lora_bias": True},
        {"rank_pattern": {"q_proj": 8}},
        {"alpha_pattern": {"q_proj": 8}},
        {"fan_in_fan_out": True},
        {"layer_replication": [[0, 2]]},
        {"trainable_token_indices": [1]},
        {"init_lora_weights": "pissa"},
        {"peft_type": "IA3"},
        {"r": 0},
    ],
    ids=lambda field: next(iter(field)),
)
def test_more_than_plain_lora_is_refused_by_the_fields_name_feat(
    adapter: Path, config: ModelConfig, field: dict[str, Any]
) -> None:
    change_config(adapter, **field)
    with pytest.raises(ModelError, match=rf"adapter a: .*\b{next(iter(field))}\b"):
        load(adapter, config)


def test_a_dora_adapter_as_peft_saves_it_is_refused(
    tiny_checkpoint: Callable[..., Path], tiny_adapter: Callable[..., Path], config: ModelConfig
) -> None:
    with pytest.raises(ModelError, match="use_dora = true is not supported"):
        load(tiny_adapter(tiny_checkpoint(), use_dora=True), config)


def test_an_adapter_of_the_embeddings_is_refused_by_the_tensors_name(
    tiny_checkpoint: Callable[..., Path], tiny_adapter: Callable[..., Path], config: ModelConfig
) -> None:
    adapter = tiny_adapter(tiny_checkpoint(), target_modules=["embed_tokens"])
    with pytest.raises(ModelError, match=r"embed_tokens.* fits nowhere"):
        load(adapter, config)


def test_an_adapter_of_a_wider_model_is_refused(
    tiny_checkpoint: Callable[..., Path], adapter: Path
) -> None:
    wider = read_hf_config(tiny_checkpoint(hidden_size=128) / "config.json")
    with pytest.raises(ModelError, match="trained for another model"):
        load(adapter, wider)


def test_an_adapter_of_a_deeper_model_is_refused(
    tiny_checkpoint: Callable[..., Path], adapter: Path
) -> None:
    shallow = read_hf_config(tiny_checkpoint(num_hidden_layers=1) / "config.json")
    with pytest.raises(ModelError, match=r"layers\.1\..* fits nowhere"):
        load(adapter, shallow)


def test_half_a_pair_is_refused(adapter: Path, config: ModelConfig) -> None:
    change_tensors(adapter, lambda tensors: tensors.pop(f"{FIRST_Q}.lora_B.weight"))
    with pytest.raises(ModelError, match="layer 0 has lora_A of q_proj, but no lora_B"):
        load(adapter, config)


@pytest.mark.parametrize("file", ["adapter_config.json", "adapter_model.safetensors"])
def test_a_missing_file_is_named(adapter: Path, config: ModelConfig, file: str) -> None:
    (adapter / file).unlink()
    with pytest.raises(ModelError, match=f"{file} does not exist"):
        load(adapter, config)


def test_a_truncated_file_is_named(adapter: Path, config: ModelConfig) -> None:
    file = adapter / "adapter_model.safetensors"
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(ModelError, match=r"adapter_model\.safetensors is cut short"):
        load(adapter, config)
