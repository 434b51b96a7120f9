"""What a checkpoint says about text, whatever files it came from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tokenizers import Tokenizer

END_OF_TURN = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>")
"""Special tokens that end a turn or a text in the supported families, also where a checkpoint
declares only some of them (Llama 3 GGUFs name one; Qwen2's tokenizer config names one of two)."""


@dataclass(frozen=True, slots=True)
class TextAssets:
    """The tokenizer, templates and special tokens of one model."""

    tokenizer: Tokenizer
    templates: Mapping[str, str]
    """Jinja sources by name: `default`, and `tool_use` where the model has a second one."""
    special_tokens: Mapping[str, str]
    """Named special tokens as templates see them: `bos_token`, `eos_token`, …"""
    eos_ids: tuple[int, ...]
    bos_id: int | None
    add_bos: bool | None
    """Whether a bare prompt begins with BOS; None leaves it to the tokenizer's post-processor."""


def end_of_turn_ids(tokenizer: Tokenizer, declared: Iterable[int | None]) -> tuple[int, ...]:
    """Declared ids first, in order, then the well-known end tokens that are special here."""
    special = {t.content: i for i, t in tokenizer.get_added_tokens_decoder().items() if t.special}
    known = (special.get(token) for token in END_OF_TURN)
    return tuple(dict.fromkeys(id_ for id_ in (*declared, *known) if id_ is not None))
