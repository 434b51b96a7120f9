"""The default model's codec, and tiny Hugging Face directories of the two tokenizer kinds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from headstart.model.gguf_file import read_gguf
from headstart.text.codec import Codec

CORPUS = [
    "The quick brown fox jumps over the lazy dog, again and again.",
    "Zürich, naïve café, 東京の天気, 你好世界 🙂 and numbers: 0 1 2 3 4 5 6 7 8 9.",
    '{"name": "get_weather", "arguments": {"city": "Paris"}} [INST] [/INST]',
]

MakeDirectory = Callable[..., Path]


@pytest.fixture(scope="session")
def default_codec(default_model_path: Path) -> Codec:
    return Codec.from_gguf(read_gguf(default_model_path).metadata)


@pytest.fixture(scope="session")
def byte_level() -> Tokenizer:
    """Like Llama 3's and Qwen2's: byte-level BPE, BOS put in front by the post-processor."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|begin_of_text|>", "<|eot_id|>", "<|python_tag|>", "<|im_start|>", "<|im_end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        show_progress=False,
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in special],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_tokens([AddedToken("<tool_call>", special=False, normalized=False)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", 0)]
    )
    return tokenizer


@pytest.fixture(scope="session")
def sentencepiece_like() -> Tokenizer:
    """Like Llama 2's and Mistral's: `▁` for spaces, one before the first word, byte fallback."""
    learner = Tokenizer(models.BPE())
    spaces = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    learner.normalizer = spaces
    trainer = trainers.BpeTrainer(vocab_size=160, show_progress=False, limit_alphabet=60)
    learner.train_from_iterator(CORPUS, trainer)
    model = json.loads(learner.to_str())["model"]
    special = ["<unk>", "<s>", "</s>", "[TOOL_CALLS]"]
    pieces = [*special, *(f"<0x{byte:02X}>" for byte in range(256)), *model["vocab"]]
    tokenizer = Tokenizer(
        models.BPE(
            {piece: id_ for id_, piece in enumerate(pieces)},
            [tuple(merge) for merge in model["merges"]],
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    tokenizer.normalizer = spaces
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in special]
    )
    return tokenizer


@pytest.fixture
def make_directory(tmp_path: Path) -> MakeDirectory:
    """`make_directory(tokenizer, generation=None, **tokenizer_config) -> Path`."""

    def make(tokenizer: Tokenizer, generation: dict[str, Any] | None = None, **config: Any) -> Path:
        tokenizer.save(str(tmp_path / "tokenizer.json"))
        settings = {"tokenizer_class": "PreTrainedTokenizerFast", **config}
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
        if generation is not None:
            (tmp_path / "generation_config.json").write_text(json.dumps(generation))
        return tmp_path

    return make
