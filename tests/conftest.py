"""Fixtures for every room's tests: the real default model, and tiny random ones made on the spot.

Heavy imports happen inside: tests that need no model don't pay for torch.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis.internal.conjecture import providers
from tests import search
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
CORPUS = [
    "You are a helpful assistant. Answer the question in one short sentence.",
    "A cache keeps what was computed before, so that nobody computes it again.",
    "The system prompt, the user's question and the assistant's answer are tokens.",
    "Zürich, naïve café, 東京の天気, 🙂 and numbers: 0 1 2 3 4 5 6 7 8 9.",
    '{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}',
]

# Torch reads it when it is imported. Tiny models gain nothing from threads; and tests run in two
# processes on two cores, so what waits there must not spin.
os.environ |= {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}

search.register()

TinyCheckpoint = Callable[..., Path]
TinyAdapter = Callable[..., Path]


@pytest.fixture(scope="session", autouse=True)
def own_state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Servers that tests start keep their accounts out of the user's ledger."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def only_a_test_chooses_its_examples() -> Iterator[None]:
    """Hypothesis tries numbers and words of whatever code is imported: of other tests' too."""
    with pytest.MonkeyPatch.context() as patch:
        if search.is_gate():
            none = providers.Constants()
            patch.setattr(providers, "_get_local_constants", lambda: none)
        yield


@pytest.fixture(scope="session")
def default_model_path() -> Path:
    """The default model's GGUF file; downloaded once per machine."""
    from headstart.model.default import fetch_default_model

    return fetch_default_model()


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> TinyCheckpoint:
    """`tiny_checkpoint(family="llama", *, seed=0, **config) -> Path`. Made once for the same call.

    Writes a Hugging Face directory with transformers: 2 layers, hidden 64, context 1024, about 400
    tokens, ChatML. `config` overrides fields of the family's config class. Every tensor is random,
    norms and biases too, and large enough that logits differ.
    """
    built: dict[str, Path] = {}

    def build(family: str = "llama", *, seed: int = 0, **config: Any) -> Path:
        key = f"{family} {seed} {sorted(config.items())}"
        if key not in built:
            path = tmp_path_factory.mktemp(f"tiny-{family}")
            _save_tiny(path, family, seed, config)
            built[key] = path
        return built[key]

    return build


@pytest.fixture(scope="session")
def tiny_adapter(tmp_path_factory: pytest.TempPathFactory) -> TinyAdapter:
    """`tiny_adapter(checkpoint, *, seed=0, **lora) -> Path`: a random PEFT adapter.

    `lora` overrides fields of `peft.LoraConfig`; without it all seven projections are adapted.
    """

    def build(checkpoint: Path, *, seed: int = 0, **lora: Any) -> Path:
        import peft
        import torch
        from transformers import AutoModelForCausalLM

        base = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
        settings = {"r": 4, "lora_alpha": 8, "target_modules": PROJECTIONS, **lora}
        model = peft.get_peft_model(base, peft.LoraConfig(task_type="CAUSAL_LM", **settings))
        generator = torch.Generator().manual_seed(seed)
        for name, weight in model.named_parameters():
            if "lora_" in name:
                weight.data.normal_(0, 0.2, generator=generator)
        path = tmp_path_factory.mktemp("adapter")
        model.save_pretrained(path)
        return path

    return build


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Wait until something becomes true, for half a minute at most."""

    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, "it never came true"
            time.sleep(0.01)

    return wait


PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def _save_tiny(path: Path, family: str, seed: int, config: dict[str, Any]) -> None:
    import torch
    import transformers

    tokenizer = _tiny_tokenizer()
    stem = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3"}[family]
    shape = {
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 1024,
        "tie_word_embeddings": False,
        "bos_token_id": 0,
        "eos_token_id": 2,
        **({"sliding_window": None} if family == "mistral" else {}),
        **({"head_dim": 32} if family == "qwen3" else {}),
    }
    model = getattr(transformers, f"{stem}ForCausalLM")(
        getattr(transformers, f"{stem}Config")(**{**shape, **config})
    )
    generator = torch.Generator().manual_seed(seed)
    for name, weight in model.named_parameters():
        centre = 1.0 if name.endswith("norm.weight") else 0.0
        weight.data.normal_(centre, 0.2, generator=generator)
    model.save_pretrained(path)
    tokenizer.save(str(path / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<|endoftext|>",
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "chat_template": CHATML,
        "model_max_length": model.config.max_position_embeddings,
    }
    (path / "tokenizer_config.json").write_text(json.dumps(settings))


def _tiny_tokenizer() -> Tokenizer:
    """Byte-level BPE, so that every text has tokens and every token has bytes."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        show_progress=False,
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer
