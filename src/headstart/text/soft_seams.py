r"""Which tokenizers may be cut inside ordinary text, and where.

The places: `\n|L` and `L| L`, with L an ASCII letter and `|` the cut. Why a cut there is exact:

- *Normaliser*: NFC never joins what stands on the two sides, for neither a line feed, a space nor a
  letter is a mark. `Prepend` and `Replace(" ", "▁")` look at one character, or at the very start.
- *Pre-tokenizer*: no alternative of the expressions listed here matches across such a place, none
  looks behind, and a look-ahead (`\s+(?!\S)`) sees one character: the letter, which belongs to the
  place. So a match ends here, and the matches behind it depend on nothing before.
- *Without an expression* (SentencePiece's kind) the model sees everything at once. There the cut
  holds if no token spells both of its sides: then no merge ever crosses it.
- *Added tokens*: none may span the place, nor swallow the space.

Any other part, known or not, means no soft seams; the hard ones remain.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from tokenizers import AddedToken, Tokenizer
from tokenizers.models import BPE

from headstart.text.gguf_pretokenizers import pre_tokenization

SOFT_PLACE = re.compile(r"(?<=\n)[A-Za-z]|(?<=[A-Za-z]) [A-Za-z]")
"""Matches from the cut to the last character it depends on."""

_WORDS = frozenset(pre_tokenization(name).splits[-1] for name in ("gpt-2", "llama3", "tekken"))
_WORDS |= frozenset(pre_tokenization("qwen2").splits)
_SYMBOLS = frozenset(
    split for name in ("default", "smollm") for split in pre_tokenization(name).splits
)
_SPELLS_BOTH_SIDES = re.compile(
    r"\n[A-Za-z]|[A-Za-z][ ▁]|<0x[0-9A-F]{2}>.|.<0x[0-9A-F]{2}>", re.DOTALL
)
_BYTES = frozenset(f"<0x{byte:02X}>" for byte in range(256))


def allows_soft_seams(tokenizer: Tokenizer) -> bool:
    """Whether every part of the tokenizer is one the proof covers."""
    model = tokenizer.model
    added = tokenizer.get_added_tokens_decoder().values()
    return (
        isinstance(model, BPE)
        and not model.dropout
        and not model.continuing_subword_prefix
        and not model.end_of_word_suffix
        and all(map(_is_local, _parts(tokenizer.normalizer, "normalizers")))
        and not any(map(_may_span, added))
        and (
            _cuts_words(list(_parts(tokenizer.pre_tokenizer, "pretokenizers")))
            or _never_merges_across(tokenizer, model)
        )
    )


def _is_local(normalizer: dict[str, Any]) -> bool:
    match normalizer:
        case {"type": "NFC"} | {"type": "Prepend", "prepend": "▁"}:
            return True
        case {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}:
            return True
    return False


def _may_span(token: AddedToken) -> bool:
    """Tokens that are looked for in normalised text are not judged, so they count as yes."""
    swallows = token.rstrip and token.content[-1:].isalpha()
    return token.normalized or swallows or SOFT_PLACE.search(token.content) is not None


def _cuts_words(parts: list[dict[str, Any]]) -> bool:
    """Expressions that are known to cut at every soft place, then maybe bytes as characters."""
    last: dict[str, Any] = parts[-1] if parts else {}
    byte_level = last.get("type") == "ByteLevel"
    splits = parts[:-1] if byte_level else parts
    expressions = set()
    for split in splits:
        match split:
            case {"type": "Digits"}:
                pass
            case {
                "type": "Split",
                "behavior": "Isolated",
                "invert": False,
                "pattern": {"Regex": str(expression)},
            } if expression in _WORDS | _SYMBOLS:
                expressions.add(expression)
            case _:
                return False
    return bool(expressions & _WORDS) or (byte_level and bool(last["use_regex"]))


def _never_merges_across(tokenizer: Tokenizer, model: BPE) -> bool:
    """SentencePiece's kind: no token spells a soft place, and no character is unknown."""
    vocabulary = tokenizer.get_vocab(with_added_tokens=True)
    return (
        model.byte_fallback
        and vocabulary.keys() >= _BYTES
        and all(
            part["type"] == "Metaspace" for part in _parts(tokenizer.pre_tokenizer, "pretokenizers")
        )
        and not any(map(_SPELLS_BOTH_SIDES.search, vocabulary))
    )


def _parts(part: Any, members: str) -> Iterator[dict[str, Any]]:
    """The JSON form of a normaliser or pre-tokenizer, sequences unfolded."""
    if part is None:
        return
    pending: list[dict[str, Any]] = [json.loads(part.__getstate__())]
    while pending:
        state = pending.pop(0)
        if state["type"] == "Sequence":
            pending = [*state[members], *pending]
        else:
            yield state
