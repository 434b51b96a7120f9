import tomllib
from datetime import date
from importlib.resources import files
from typing import Any

import pytest
from tests.insight.plan.asking import report

from headstart.insight.plan.catalogue import find, rows
from headstart.insight.plan.config import parse_config
from headstart.insight.plan.errors import PlanError

DENSE = {"llama", "mistral", "qwen2", "qwen3"}
TEXT = (files("headstart.insight.plan") / "catalogue.toml").read_text("utf-8")
RAW: dict[str, dict[str, Any]] = {
    row["names"][0]: row["config"] for row in tomllib.loads(TEXT)["model"]
}


def parameters_of_transformers(config: dict[str, Any]) -> int:
    """What transformers builds of `config`, without weights."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    fields = {
        key: value
        for key, value in config.items()
        if key not in ("model_type", "torch_dtype", "quantization_config")
    }
    # transformers has no class for Kimi-K2: its own config.json names DeepSeek-V3's architecture.
    family = {"kimi_k2": "deepseek_v3"}.get(config["model_type"], config["model_type"])
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **fields))
    return sum(each.numel() for each in model.parameters())


def test_every_row_has_a_source_and_a_day_and_parses_exactly() -> None:
    for row in rows():
        assert row.source.startswith("https://huggingface.co/")
        assert date(2026, 1, 1) <= date.fromisoformat(row.date) <= date(2026, 11, 30)
        assert row.shape.exact
        assert row.nominal is None or abs(row.shape.parameters / row.nominal - 1) < 0.1


def test_what_a_row_could_not_read_is_among_what_its_plan_assumes() -> None:
    noted = [row for row in rows() if row.note is not None]
    assert {"smollm2-135m", "minimax-m2.5"} <= {row.names[0] for row in noted}
    for row in rows():
        told = {each.key: each for each in report(model=row.names[0]).assumptions}
        assert ("dimensions" in told) == (row in noted)
    told = {each.key: each for each in report(model="smollm2-135m").assumptions}
    assert "unverified: torch_dtype" in told["dimensions"].value
    assert not told["dimensions"].given


def test_a_model_with_another_context_or_other_weights_is_not_another_name_of_it() -> None:
    """Kimi-K2-Thinking's context is twice Kimi-K2-Instruct's (aiconfigurator @821eb9a)."""
    with pytest.raises(PlanError, match="neither a model of the catalogue"):
        find("moonshotai/Kimi-K2-Thinking")


def test_names_are_of_one_row_each() -> None:
    names = [name for row in rows() for name in row.names]
    assert len(names) == len(set(names)) >= 28


@pytest.mark.slow  # The import of transformers.
@pytest.mark.parametrize("name", [n for n, c in RAW.items() if c["model_type"] in DENSE])
def test_dense_models_have_the_parameters_that_transformers_builds(name: str) -> None:
    assert find(name).shape.parameters == parameters_of_transformers(RAW[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, c in RAW.items() if c["model_type"] not in DENSE])
def test_so_do_experts_latents_windows_and_hybrids(name: str) -> None:
    assert find(name).shape.parameters == parameters_of_transformers(RAW[name])


@pytest.mark.slow
@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "llama", "attention_bias": True, "mlp_bias": True},
        {"model_type": "qwen3_moe", "num_experts": 4, "num_experts_per_tok": 2,
         "moe_intermediate_size": 16, "mlp_only_layers": [1], "head_dim": 8},
        {"model_type": "qwen3_moe", "num_experts": 4, "num_experts_per_tok": 2,
         "moe_intermediate_size": 16, "decoder_sparse_step": 2, "head_dim": 8},
        {"model_type": "qwen3", "head_dim": 8, "tie_word_embeddings": True},
        {"model_type": "llama4_text", "intermediate_size_mlp": 48, "num_local_experts": 4,
         "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "head_dim": 8},
        {"model_type": "gemma2", "head_dim": 16, "num_hidden_layers": 7},
        {"model_type": "gemma3_text", "head_dim": 16, "num_hidden_layers": 7},
        {"model_type": "cohere2", "num_hidden_layers": 7},
        {"model_type": "phi3", "pad_token_id": 0},
        {"model_type": "qwen2_moe", "num_experts": 4, "num_experts_per_tok": 2,
         "moe_intermediate_size": 16, "shared_expert_intermediate_size": 24,
         "mlp_only_layers": [1]},
        {"model_type": "qwen3_next", "num_experts": 4, "num_experts_per_tok": 2, "head_dim": 16,
         "moe_intermediate_size": 16, "shared_expert_intermediate_size": 24,
         "linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8,
         "linear_value_head_dim": 8, "linear_conv_kernel_dim": 4},
        {"model_type": "deepseek_v2", "q_lora_rank": None, "kv_lora_rank": 16,
         "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8, "n_routed_experts": 4,
         "n_shared_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
         "first_k_dense_replace": 1, "num_key_value_heads": 4},
        {"model_type": "gemma4_text", "head_dim": 8, "global_head_dim": 16,
         "hidden_size_per_layer_input": 0, "sliding_window": 32},
    ],
    ids=lambda config: config["model_type"],
)  # fmt: skip
def test_so_do_variants_that_the_catalogue_has_none_of(config: dict[str, Any]) -> None:
    size = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 64,
        **config,
    }
    assert parse_config(size, name="x").parameters == parameters_of_transformers(size)


@pytest.mark.parametrize(
    "name",
    ["llama-3-8b", "NousResearch/Meta-Llama-3-8B", "meta-llama/Meta-Llama-3-8B-Instruct",
     "LLAMA_3_8B"],
)  # fmt: skip
def test_a_model_is_found_by_the_names_people_type(name: str) -> None:
    assert find(name).names[0] == "llama-3-8b"


def test_the_model_that_headstart_serves_is_in_it() -> None:
    from headstart.settings import DEFAULT_MODEL

    assert find(DEFAULT_MODEL).names[0] == "smollm2-135m"


def test_an_unknown_model_is_one_line_that_names_those_we_know() -> None:
    with pytest.raises(PlanError, match=r"'gpt-9' is neither .* qwen3-8b") as caught:
        find("gpt-9")
    assert "\n" not in str(caught.value)
