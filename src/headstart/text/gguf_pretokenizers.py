"""How text is cut before BPE, by the name a GGUF file gives (`tokenizer.ggml.pre`).

A GGUF carries no pre-tokenizer, only this name; the rules are those of the models' own published
tokenizer.json files, to which llama.cpp's names refer (llama-vocab.cpp).
"""

from dataclasses import dataclass

from tokenizers import Regex, normalizers, pre_tokenizers
from tokenizers.normalizers import Normalizer
from tokenizers.pre_tokenizers import PreTokenizer

from headstart.text.errors import TokenizerError

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3 = (
    rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}"
    rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
)
_QWEN2 = _LLAMA3.replace("{1,3}", "")
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_TEKKEN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*"
    rf"|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
)
_DEFAULT = (r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", r"[0-9][0-9][0-9]")


@dataclass(frozen=True, slots=True)
class PreTokenization:
    """Cuts applied one after the other, each within the pieces of the one before."""

    splits: tuple[str, ...]
    nfc: bool = False
    """Normalise to NFC first."""
    ignore_merges: bool = False
    """A piece that is a token as a whole is taken as it is."""
    add_bos: bool = False
    """A bare prompt begins with BOS where the file does not say."""

    def normalizer(self) -> Normalizer | None:
        """The normaliser, if any."""
        return normalizers.NFC() if self.nfc else None

    def pre_tokenizer(self) -> PreTokenizer:
        """The cuts, then bytes spelled as characters."""
        cuts = [pre_tokenizers.Split(Regex(split), behavior="isolated") for split in self.splits]
        return pre_tokenizers.Sequence(
            [*cuts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
        )


_GPT2_LIKE = PreTokenization((_GPT2,))
_LLAMA3_LIKE = PreTokenization((_LLAMA3,), ignore_merges=True, add_bos=True)
_QWEN2_LIKE = PreTokenization((_QWEN2,), nfc=True)
_DIGITS_THEN_GPT2 = PreTokenization((r"\p{N}", _GPT2))

_BY_NAME = {
    "default": PreTokenization(_DEFAULT),
    "gpt-2": _GPT2_LIKE,
    "smollm": _DIGITS_THEN_GPT2,
    "starcoder": _DIGITS_THEN_GPT2,
    "refact": _DIGITS_THEN_GPT2,
    "command-r": _DIGITS_THEN_GPT2,
    "llama3": _LLAMA3_LIKE,
    "llama-v3": _LLAMA3_LIKE,
    "llama-bpe": _LLAMA3_LIKE,
    "qwen2": _QWEN2_LIKE,
    "deepseek-r1-qwen": _QWEN2_LIKE,
    "tekken": PreTokenization((_TEKKEN,), ignore_merges=True, add_bos=True),
}


def pre_tokenization(name: str | None) -> PreTokenization:
    """Look a name up; a file without one is `default`. TokenizerError for an unknown name."""
    try:
        return _BY_NAME[name or "default"]
    except KeyError:
        raise TokenizerError(
            f"the GGUF file's pre-tokenizer {name!r} is not supported (supported: "
            f"{', '.join(sorted(_BY_NAME))}): use the model's Hugging Face directory instead"
        ) from None
