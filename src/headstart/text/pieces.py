"""The exact bytes behind every token id."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tokenizers import Tokenizer

from headstart.text.errors import TokenizerError

WORD_BORDER = "▁"
"""SentencePiece's visible space (U+2581)."""


def byte_alphabet() -> dict[str, int]:
    """GPT-2's spelling of the 256 bytes as printable characters, character to byte.

    Printable Latin-1 characters stand for themselves; the others follow from U+0100 on, in order
    (Radford et al. 2019, `encoder.py`).
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {
        chr(0x100 + offset): byte for offset, byte in enumerate(hidden)
    }


_BYTES = byte_alphabet()


class Pieces:
    """Maps a token id to its bytes, by the rules the tokenizer's own decoder declares.

    Two kinds exist in the supported families: byte-level BPE (every character is one byte) and
    SentencePiece-like BPE (`▁` is a space, `<0xNN>` is one byte). Added tokens are plain text.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        added = tokenizer.get_added_tokens_decoder()
        self._added: Mapping[int, str] = {id_: token.content for id_, token in added.items()}
        self.special_ids: Mapping[str, int] = {
            token.content: id_ for id_, token in added.items() if token.special
        }
        """The special tokens, text to id."""
        steps = {step["type"]: step for step in _steps(_state(tokenizer.decoder))}
        self._byte_level = "ByteLevel" in steps
        self._byte_fallback = "ByteFallback" in steps
        if not (self._byte_level or self._byte_fallback or "Metaspace" in steps):
            raise TokenizerError(
                f"the tokenizer's decoder ({', '.join(steps) or 'none'}) is not supported: "
                "only byte-level BPE and SentencePiece-like BPE tokenizers are"
            )
        self.strips_first_space = _strips_first_space(steps)
        """The space that SentencePiece puts before the first word does not belong to the text."""

    def __getitem__(self, token_id: int) -> bytes:
        """Bytes of one token; empty for an id beyond the vocabulary (padding of the head)."""
        added = self._added.get(token_id)
        if added is not None:
            return added.encode()
        token = self._tokenizer.id_to_token(token_id) if token_id >= 0 else None
        if token is None:
            return b""
        if self._byte_level:
            try:
                return bytes(_BYTES[character] for character in token)
            except KeyError:
                return token.encode()
        if self._byte_fallback and len(token) == 6 and token.startswith("<0x"):
            return bytes.fromhex(token[3:5])
        return token.replace(WORD_BORDER, " ").encode()


def _state(part: Any) -> dict[str, Any]:
    """The JSON form of a part of a tokenizer, without dumping the whole vocabulary."""
    return {} if part is None else dict(json.loads(part.__getstate__()))


def _steps(decoder: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if decoder.get("type") == "Sequence":
        for step in decoder["decoders"]:
            yield from _steps(step)
    elif decoder:
        yield decoder


def _strips_first_space(steps: Mapping[str, dict[str, Any]]) -> bool:
    if "Metaspace" in steps:
        return bool(steps["Metaspace"].get("prepend_scheme", "always") != "never")
    strip = steps.get("Strip")
    return strip is not None and strip["content"] == " " and strip["start"] > 0
