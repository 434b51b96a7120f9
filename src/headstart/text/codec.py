"""One model's text side: tokenizer, chat template and tool format behind one façade."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from headstart.text.assets import TextAssets
from headstart.text.chat import Conversation
from headstart.text.detokenizer import Detokenizer
from headstart.text.directory import load_directory
from headstart.text.errors import TextError
from headstart.text.pieces import Pieces
from headstart.text.template import ChatTemplate
from headstart.text.tools import ToolFormat, detect_format

if TYPE_CHECKING:
    from gguf import GGUFReader


class Codec:
    """Text to token ids and back, by the rules of one model."""

    def __init__(self, assets: TextAssets, *, date: datetime.date | None = None) -> None:
        """`date` is what templates show as today; None leaves them without a clock (STAB-01)."""
        self._tokenizer = assets.tokenizer
        self._pieces = Pieces(assets.tokenizer)
        self._template = ChatTemplate(assets.templates, assets.special_tokens, date)
        self.eos_ids: tuple[int, ...] = assets.eos_ids
        """Every id that ends a turn or the text, the tokenizer's own first."""
        self.bos_id: int | None = assets.bos_id
        vocabulary = assets.tokenizer.get_vocab(with_added_tokens=True)
        self.vocab_size = max(vocabulary.values()) + 1
        """Highest id the tokenizer knows, plus one; the model's head may be padded beyond it."""
        self._prompt_prefix = _prompt_prefix(assets)
        special = self._pieces.special_ids
        self.tool_format: ToolFormat = detect_format(self._template.source, special)
        """How this model writes tool calls."""
        markers = self.tool_format.markers
        self._hidden = frozenset(id_ for token, id_ in special.items() if token not in markers)

    @classmethod
    def from_directory(cls, path: Path, *, date: datetime.date | None = None) -> Self:
        """Read a Hugging Face model directory. Raises TokenizerError or TemplateError."""
        return cls(load_directory(path), date=date)

    @classmethod
    def from_gguf(
        cls, source: "Path | GGUFReader | Mapping[str, Any]", *, date: datetime.date | None = None
    ) -> Self:
        """Read a GGUF file, an open one, or its metadata. Raises like `from_directory`."""
        from headstart.text.gguf_tokenizer import load_gguf

        return cls(load_gguf(source), date=date)

    @property
    def tokenizer_json(self) -> str:
        """The tokenizer in Hugging Face's format."""
        return self._tokenizer.to_str()

    @property
    def template_knows_tools(self) -> bool:
        """False where tools are rendered by the documented fallback (`text/fallback.py`)."""
        return self._template.knows_tools

    def encode(self, text: str) -> list[int]:
        """Ids of `text`: special tokens recognised, nothing added. TextError if not Unicode."""
        try:
            return list(self._tokenizer.encode(text, add_special_tokens=False).ids)
        except TypeError as error:
            raise TextError(
                "the text holds half of a surrogate pair, which is no character"
            ) from error

    def encode_prompt(self, text: str) -> list[int]:
        """Ids of a bare prompt: BOS first where the tokenizer adds one and the text has none."""
        ids = self.encode(text)
        if ids[: len(self._prompt_prefix)] == self._prompt_prefix:
            return ids
        return self._prompt_prefix + ids

    def decode(self, ids: Iterable[int], *, skip_special: bool = True) -> str:
        """Text of `ids`; what is not UTF-8 becomes U+FFFD.

        Special tokens are left out, except those that the tool format is made of.
        """
        detokenizer = Detokenizer(self._pieces, self._hidden if skip_special else frozenset())
        return "".join([*map(detokenizer.feed, ids), detokenizer.flush()])

    def token_bytes(self, token_id: int) -> bytes:
        """Exact bytes of one token, which may be part of a character; empty for an unknown id."""
        return self._pieces[token_id]

    def render(self, conversation: Conversation) -> str:
        """The prompt's text, up to where the answer begins. Raises TemplateError."""
        return self._template.render(conversation)

    def encode_chat(self, conversation: Conversation) -> list[int]:
        """The prompt's ids. The template alone decides on BOS, so there is never a second one."""
        return self.encode(self.render(conversation))

    def detokenizer(self, prompt_tail: Sequence[int] = ()) -> Detokenizer:
        """Streaming decoder for what follows `prompt_tail` (the prompt, or the last of it)."""
        return Detokenizer(self._pieces, self._hidden, prompt_tail)


def _prompt_prefix(assets: TextAssets) -> list[int]:
    """What a bare prompt begins with: as declared, else as the post-processor does it."""
    if assets.add_bos is not None:
        return [assets.bos_id] if assets.add_bos and assets.bos_id is not None else []
    probe = "a"
    bare = assets.tokenizer.encode(probe, add_special_tokens=False).ids
    full = assets.tokenizer.encode(probe, add_special_tokens=True).ids
    starts = (i for i in range(len(full)) if full[i : i + len(bare)] == bare)
    return list(full[: next(starts, 0)])
