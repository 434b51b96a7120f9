"""One model's text side: tokenizer, chat template and tool format behind one façade."""

import datetime
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from headstart.text.assets import TextAssets
from headstart.text.chat import Conversation
from headstart.text.detokenizer import Detokenizer
from headstart.text.directory import load_directory
from headstart.text.errors import TextError
from headstart.text.incremental import IncrementalEncoder
from headstart.text.pieces import Pieces
from headstart.text.ruler import Ruler
from headstart.text.seams import Encoded, SeamRules
from headstart.text.splice import Splicer
from headstart.text.template import ChatTemplate
from headstart.text.tools import ToolFormat, detect_format

if TYPE_CHECKING:
    from gguf import GGUFReader


REMEMBERED_BYTES = 64 * 1024**2
"""Budget for remembered texts: some 40 conversations of 100,000 tokens."""


class Codec:
    """Text to token ids and back, by the rules of one model."""

    def __init__(
        self,
        assets: TextAssets,
        *,
        date: datetime.date | None = None,
        remembered_bytes: int = REMEMBERED_BYTES,
    ) -> None:
        """`date` is what templates show as today; None leaves them without a clock (STAB-01).

        `remembered_bytes` bounds what is remembered of the texts that are encoded with a scope.
        """
        self._tokenizer = assets.tokenizer
        self._pieces = Pieces(assets.tokenizer)
        self._template = ChatTemplate(assets.templates, assets.special_tokens, date)
        self.eos_ids: tuple[int, ...] = assets.eos_ids
        """Every id that ends a turn or the text, the tokenizer's own first."""
        self.bos_id: int | None = assets.bos_id
        vocabulary = assets.tokenizer.get_vocab(with_added_tokens=True)
        self.vocab_size = max(vocabulary.values()) + 1
        """Highest id the tokenizer knows, plus one; the model's head may be padded beyond it."""
        self.longest_token = max(map(len, vocabulary))
        """No token stands for more characters, unless the tokenizer drops or joins some."""
        self._prompt_prefix = _prompt_prefix(assets)
        special = self._pieces.special_ids
        self.tool_format: ToolFormat = detect_format(self._template.source, special)
        """How this model writes tool calls."""
        markers = self.tool_format.markers
        self._lengths = _Lengths(self._pieces)
        self._hidden = frozenset(id_ for token, id_ in special.items() if token not in markers)
        rules = SeamRules(assets.tokenizer)
        self._incremental = IncrementalEncoder(self._encode, rules, max_bytes=remembered_bytes)
        self._splicer = Splicer(self._incremental, self._pieces, self.eos_ids)

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

    def encode(self, text: str, scope: str | None = None) -> Sequence[int]:
        """Ids of `text`: special tokens recognised, nothing added. TextError if not Unicode.

        With a `scope` (a tenant) the cost is that of what is new in `text` since an earlier one of
        the same scope, `remember`ed answers keep their ids, and the ids come as an `array('I')`.
        """
        if scope is not None:
            return self._incremental.encode(text, scope)
        return self._encode(text).ids

    def encode_prompt(self, text: str, scope: str | None = None) -> Sequence[int]:
        """Ids of a bare prompt: BOS first where the tokenizer adds one and the text has none."""
        ids, prefix = self.encode(text, scope), self._prompt_prefix
        if list(ids[: len(prefix)]) == prefix:
            return ids
        return array("I", prefix) + ids if isinstance(ids, array) else [*prefix, *ids]

    def remember(self, scope: str, prompt: Sequence[int], answer: Sequence[int]) -> bool:
        """Note an answer's ids for when its text comes back in a longer prompt (TURN-01).

        `prompt` is what `encode_chat` or `encode_prompt` gave for this scope. Whether it is noted.
        """
        prefix = self._prompt_prefix
        if self._splicer.remember(scope, prompt, answer):
            return True
        without = prompt[len(prefix) :]
        return (
            bool(prefix)
            and list(prompt[: len(prefix)]) == prefix
            and self._splicer.remember(scope, without, answer)
        )

    def decode(self, ids: Iterable[int], *, skip_special: bool = True) -> str:
        """Text of `ids`; what is not UTF-8 becomes U+FFFD.

        Special tokens are left out, except those that the tool format is made of.
        """
        detokenizer = Detokenizer(self._pieces, self._hidden if skip_special else frozenset())
        return "".join([*map(detokenizer.feed, ids), detokenizer.flush()])

    def shows_call(self, answer: Sequence[int]) -> bool:
        """Whether an answer's ids hold what begins a tool call."""
        text = self.decode(answer)
        return any(marker in text for marker in self.tool_format.markers)

    def token_bytes(self, token_id: int) -> bytes:
        """Exact bytes of one token, which may be part of a character; empty for an unknown id."""
        return self._pieces[token_id]

    def render(self, conversation: Conversation) -> str:
        """The prompt's text, up to where the answer begins. Raises TemplateError."""
        return self._template.render(conversation)

    def encode_chat(self, conversation: Conversation, scope: str | None = None) -> Sequence[int]:
        """The prompt's ids. The template alone decides on BOS, so there is never a second one."""
        return self.encode(self.render(conversation), scope)

    def ruler(self, text: str, ids: Sequence[int], scope: str) -> Ruler:
        """Measures tokens in `text`. `ids` are what `encode` gave for it and `scope`."""
        return Ruler(text, ids, self._lengths, self._incremental.seams(text, scope))

    def detokenizer(self, prompt_tail: Sequence[int] = ()) -> Detokenizer:
        """Streaming decoder for what follows `prompt_tail` (the prompt, or the last of it)."""
        return Detokenizer(self._pieces, self._hidden, prompt_tail)

    def _encode(self, text: str) -> Encoded:
        try:
            return self._tokenizer.encode(text, add_special_tokens=False)
        except TypeError as error:
            raise TextError(
                "the text holds half of a surrogate pair, which is no character"
            ) from error


class _Lengths(dict[int, int]):
    """Bytes of tokens, measured when first asked for."""

    def __init__(self, pieces: Pieces) -> None:
        super().__init__()
        self._pieces = pieces

    def __missing__(self, token: int) -> int:
        length = self[token] = len(self._pieces[token])
        return length


def _prompt_prefix(assets: TextAssets) -> list[int]:
    """What a bare prompt begins with: as declared, else as the post-processor does it."""
    if assets.add_bos is not None:
        return [assets.bos_id] if assets.add_bos and assets.bos_id is not None else []
    probe = "a"
    bare = assets.tokenizer.encode(probe, add_special_tokens=False).ids
    full = assets.tokenizer.encode(probe, add_special_tokens=True).ids
    starts = (i for i in range(len(full)) if full[i : i + len(bare)] == bare)
    return list(full[: next(starts, 0)])
