"""Small tokenizers of every kind there is, friendly and hostile, for tests of encoding."""

import json
from collections.abc import Callable

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

from headstart.text.gguf_pretokenizers import pre_tokenization

CORPUS = [
    "The quick brown fox jumps over the lazy dog, again and again.\nThe end\n\n  of it's all",
    "Zürich, naïve café, 東京の天気, 你好世界 🙂 and numbers: 0 1 2 3 4 5 6 7 8 9. a  b   c    d",
    '{"name": "get_weather", "arguments": {"city": "Paris"}}\r\n\treturn x == y;\n',
    "cafe\u0301 e\u0301 n\u0303 the the the then there  \n \n",
]
SPECIAL = ("<|im_start|>", "<|im_end|>", "<s>", "</s>")


def byte_level(
    pre_tokenizer: pre_tokenizers.PreTokenizer,
    normalizer: normalizers.Normalizer | None = None,
    ignore_merges: bool = False,
) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        CORPUS * 3,
        trainers.BpeTrainer(
            vocab_size=500,
            show_progress=False,
            special_tokens=[AddedToken(token, special=True, normalized=False) for token in SPECIAL],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    return tokenizer


def named(name: str) -> Tokenizer:
    """As a GGUF file that names this pre-tokenizer."""
    rules = pre_tokenization(name)
    return byte_level(rules.pre_tokenizer(), rules.normalizer(), rules.ignore_merges)


def sentencepiece(
    normalizer: normalizers.Normalizer | None,
    pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
) -> Tokenizer:
    """Characters with byte fallback; merges learned on whole texts, so that some cross words."""
    learner = Tokenizer(models.BPE())
    learner.normalizer = normalizers.Replace(" ", "▁")
    learner.pre_tokenizer = pre_tokenizers.Split(Regex(r"▁[^▁\n]*|\n"), "isolated")
    learner.train_from_iterator(
        CORPUS * 3, trainers.BpeTrainer(vocab_size=200, show_progress=False, limit_alphabet=60)
    )
    model = json.loads(learner.to_str())["model"]
    pieces = [*SPECIAL, "<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *model["vocab"]]
    tokenizer = Tokenizer(
        models.BPE(
            {piece: id_ for id_, piece in enumerate(pieces)},
            [tuple(merge) for merge in model["merges"]],
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in SPECIAL])
    return tokenizer


def crossing() -> Tokenizer:
    """SentencePiece's kind whose merges run across words and lines."""
    pieces = [*(f"<0x{byte:02X}>" for byte in range(256)), *"\n▁abcdefghijklmnopqrstuvwxyzT"]
    merges = [("e", "▁"), ("e▁", "t"), ("\n", "T"), ("\nT", "h"), ("t", "h"), ("th", "e▁t")]
    vocabulary = [*pieces, *("".join(merge) for merge in merges)]
    tokenizer = Tokenizer(
        models.BPE({piece: id_ for id_, piece in enumerate(vocabulary)}, merges, byte_fallback=True)
    )
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback()])
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in SPECIAL])
    return tokenizer


def unigram() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    tokenizer.train_from_iterator(
        CORPUS * 3,
        trainers.UnigramTrainer(
            vocab_size=120, show_progress=False, unk_token="<unk>", special_tokens=["<unk>"]
        ),
    )
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in SPECIAL])
    return tokenizer


def with_tokens(*added: AddedToken, name: str = "gpt-2") -> Tokenizer:
    tokenizer = named(name)
    tokenizer.add_tokens(list(added))
    return tokenizer


def _spaces(prepend: bool) -> normalizers.Normalizer:
    steps: list[normalizers.Normalizer] = [normalizers.Replace(" ", "▁")]
    return normalizers.Sequence([normalizers.Prepend("▁"), *steps] if prepend else steps)


def _metaspace(scheme: str, split: bool) -> Callable[[], Tokenizer]:
    part = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)  # type: ignore[arg-type]
    return lambda: sentencepiece(None, part)


ZOO: dict[str, Callable[[], Tokenizer]] = {
    **{name: lambda name=name: named(name) for name in ("gpt-2", "smollm", "qwen2", "default")},
    **{name: lambda name=name: named(name) for name in ("llama-bpe", "tekken")},
    "byte level alone": lambda: byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False)),
    "byte level, space before": lambda: byte_level(pre_tokenizers.ByteLevel()),
    "digits first": lambda: byte_level(
        pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
    ),
    "unknown expression": lambda: byte_level(
        pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(r"(?<=the)\s\w+|\w+\s\w+|\n\w|[\s\S]"), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
    ),
    "no expression": lambda: byte_level(
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    ),
    "lower case": lambda: byte_level(
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase(), normalizers.Strip()]),
    ),
    "sentencepiece, prefix": lambda: sentencepiece(_spaces(prepend=True)),
    "sentencepiece, no prefix": lambda: sentencepiece(_spaces(prepend=False)),
    "metaspace first": _metaspace("first", split=False),
    "metaspace first, split": _metaspace("first", split=True),
    "metaspace always": _metaspace("always", split=True),
    "metaspace never": _metaspace("never", split=False),
    "merges across words": crossing,
    "unigram": unigram,
    "greedy blanks": lambda: with_tokens(
        AddedToken("<s>", lstrip=True, normalized=False),
        AddedToken("</s>", rstrip=True, normalized=False),
        AddedToken("<|im_end|>", lstrip=True, rstrip=True, normalized=False),
        AddedToken("xyz", rstrip=True, normalized=False),
        AddedToken("\n\n", rstrip=True, normalized=False),
    ),
    "word borders": lambda: with_tokens(
        AddedToken("the", single_word=True, normalized=False),
        AddedToken("<s>", single_word=True, normalized=False),
        AddedToken("<tool>x", normalized=False),
    ),
    "overlapping tokens": lambda: with_tokens(
        AddedToken("<|im_end|>\n", normalized=False),
        AddedToken("e<|im_st", normalized=False),
        AddedToken("</s><s>", normalized=False),
        AddedToken("aba", normalized=False),
        AddedToken("abab", normalized=False),
    ),
    "tokens across places": lambda: with_tokens(
        AddedToken("e\nThe", normalized=False), AddedToken("x y", normalized=False)
    ),
    "normalised tokens": lambda: with_tokens(
        AddedToken("<s>", normalized=True), AddedToken("é", normalized=True), name="qwen2"
    ),
}
