"""Builds a tokenizer from a GGUF file's metadata.

Key names and their defaults: the GGUF specification (ggml/docs/gguf.md) and llama.cpp.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenizers import AddedToken, Tokenizer

from headstart.text.assets import TextAssets, end_of_turn_ids
from headstart.text.errors import TokenizerError
from headstart.text.gguf_bpe import byte_level_bpe, sentencepiece_bpe, token_id
from headstart.text.gguf_metadata import GgufMetadata

if TYPE_CHECKING:
    from gguf import GGUFReader

_NAMED = {
    "bos_token": "bos_token_id",
    "eos_token": "eos_token_id",
    "unk_token": "unknown_token_id",
    "pad_token": "padding_token_id",
}
_TEMPLATE = "tokenizer.chat_template"


class TokenType(IntEnum):
    """`tokenizer.ggml.token_type`, those that matter here."""

    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4


def load_gguf(source: "Path | GGUFReader | Mapping[str, Any]") -> TextAssets:
    """Read tokenizer, template and special tokens. Raises TokenizerError naming what is wrong."""
    metadata = GgufMetadata(source)
    model = metadata.text("tokenizer.ggml.model")
    builder = _BUILDERS.get(model or "")
    if builder is None:
        raise TokenizerError(
            f"the GGUF file's tokenizer model {model!r} is not supported: "
            f"{' and '.join(_BUILDERS)} are"
        )
    tokens: list[str] = metadata.array("tokenizer.ggml.tokens")
    tokenizer, adds_bos = builder(metadata, tokens)
    types = metadata.array("tokenizer.ggml.token_type")
    if len(types) != len(tokens):
        raise TokenizerError(f"the GGUF file has {len(tokens)} tokens but {len(types)} token types")
    _add_whole_tokens(tokenizer, tokens, types)
    ids = {name: token_id(metadata, key, len(tokens)) for name, key in _NAMED.items()}
    declared_bos = metadata.flag("tokenizer.ggml.add_bos_token")
    ends = (token_id(metadata, key, len(tokens)) for key in ("eot_token_id", "eom_token_id"))
    return TextAssets(
        tokenizer=tokenizer,
        templates=_templates(metadata),
        special_tokens={name: tokens[id_] for name, id_ in ids.items() if id_ is not None},
        eos_ids=end_of_turn_ids(tokenizer, (ids["eos_token"], *ends)),
        bos_id=ids["bos_token"],
        add_bos=adds_bos if declared_bos is None else declared_bos,
    )


_Builder = Callable[[GgufMetadata, Sequence[str]], tuple[Tokenizer, bool]]
_BUILDERS: dict[str, _Builder] = {"gpt2": byte_level_bpe, "llama": sentencepiece_bpe}


def _add_whole_tokens(tokenizer: Tokenizer, tokens: Sequence[str], types: Sequence[int]) -> None:
    """Control tokens are special; user-defined ones (`<think>`) are found whole but are text."""
    for token, kind in zip(tokens, types, strict=True):
        special = kind in (TokenType.CONTROL, TokenType.UNKNOWN)
        if special or kind == TokenType.USER_DEFINED:
            tokenizer.add_tokens([AddedToken(token, normalized=False, special=special)])


def _templates(metadata: GgufMetadata) -> dict[str, str]:
    """`tokenizer.chat_template`, and named ones as `tokenizer.chat_template.NAME`."""
    templates = {}
    for key in metadata.keys(_TEMPLATE):
        source = metadata.text(key) if key == _TEMPLATE or key.startswith(f"{_TEMPLATE}.") else None
        if source is not None:
            templates[key.removeprefix(_TEMPLATE).removeprefix(".") or "default"] = source
    return templates
