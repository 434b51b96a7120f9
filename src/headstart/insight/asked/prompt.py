"""From a request to a prompt as contracts see it, so that a vendor's rules can be planned offline.

Templates are the vendors' secret, so what opens and closes a message is taken to be three tokens,
as OpenAI's cookbook counts it; a text completion has none.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import overload

from headstart.contracts.contract import Contract
from headstart.contracts.prompt import Block, Prompt, digest
from headstart.contracts.registry import build
from headstart.insight.asked.asked import Asked, Format
from headstart.insight.asked.count.counter import Counts
from headstart.insight.asked.formats.values import place
from headstart.insight.asked.piece import Piece, utf8
from headstart.ledger.rules import Profile

FRAME = 3
"""Tokens."""


def to_prompt(asked: Asked, counts: Counts) -> Prompt:
    """The prompt, its ids worked out only when asked for; recorded ids are taken as they are.

    Where blocks end is counted from their texts; beside recorded ids, in the same proportion.
    """
    pieces = asked.pieces
    frames = _frames(asked.format, pieces)
    sizes = [frame + counts.tokens(piece) for frame, piece in zip(frames, pieces, strict=True)]
    ends = list(accumulate(sizes))
    total = ends[-1] if ends else 0
    ids: Sequence[int] = _Ids(pieces, frames, counts, total)
    if asked.tokens is not None:
        ids = asked.tokens
        ends = [end * len(ids) // total for end in ends] if total else ends
    return Prompt(
        asked.tenant,
        asked.model,
        [_block(piece, asked.format) for piece in pieces],
        ids,
        asked.partition,
        asked.settings,
        asked.wishes,
        ends,
    )


def contract_of(profile: Profile) -> Contract:
    """The vendor's rules with a model's numbers."""
    return build(profile.contract, **profile.numbers)


def path_of(piece: Piece, form: Format) -> str:
    """Where a piece stands, as its vendor's errors spell it."""
    if form in ("anthropic", "converse"):
        # A text is short for one block of text.
        whole = piece.address[-1] in ("content", "system")
        return ".".join(map(str, (*piece.address, 0) if whole else piece.address))
    return place(piece.address)


def _block(piece: Piece, form: Format) -> Block:
    path = path_of(piece, form)
    return Block(piece.kind, piece.digest, piece.message, path, piece.mark, piece.markable)


def _frames(form: Format, pieces: Sequence[Piece]) -> list[int]:
    """The tokens before each piece that open its message."""
    if form == "completion":
        return [0] * len(pieces)
    before = [None, *((piece.message, piece.role) for piece in pieces)]
    return [
        FRAME * (piece.kind != "tool" and (piece.message, piece.role) != last)
        for piece, last in zip(pieces, before, strict=False)
    ]


class _Ids(Sequence[int]):
    """Ids of pieces with frames; its length is known before they are."""

    def __init__(
        self, pieces: Sequence[Piece], frames: Sequence[int], counts: Counts, total: int
    ) -> None:
        self._pieces = pieces
        self._frames = frames
        self._counts = counts
        self._total = total
        self._known: array[int] | None = None

    def __len__(self) -> int:
        return self._total

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        return self._all[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self._all)

    @property
    def _all(self) -> "array[int]":
        if self._known is None:
            self._known = array("I")
            for piece, frame in zip(self._pieces, self._frames, strict=True):
                opening = int.from_bytes(digest(utf8(piece.role), utf8(piece.id))[:4])
                self._known.extend([opening] * frame)
                self._known.extend(self._counts.ids(piece))
        return self._known
