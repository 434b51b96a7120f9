"""A request that is being rewritten: its body, a copy, edited where its pieces stand."""

from dataclasses import replace
from typing import Any

import msgspec

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.piece import EARLY, Address, Piece
from headstart.insight.asked.read import read


class Draft:
    """Edits change `body`; `asked` is what it reads as after `reread`."""

    def __init__(self, asked: Asked, *, blocks: bool) -> None:
        """`blocks`: whether the contract reads to the ends of blocks, so that a text that is
        appended has to be one of its own."""
        self.body: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(asked.body))
        self.asked = replace(asked, body=self.body)
        self.blocks = blocks
        self.moved: list[str] = []
        """Texts that were moved to the end: no marker belongs behind them."""

    def reread(self) -> None:
        """Raises Unreadable if an edit broke the body."""
        old = self.asked
        signs = Signs(provider=old.vendor, model=old.model, format=old.format)
        new = read(self.body, signs, old.origin)
        self.asked = replace(
            old,
            pieces=new.pieces,
            settings=new.settings,
            wishes=new.wishes,
            partition=new.partition,
            tokens=None,
        )

    def at(self, address: Address) -> Any:
        """The value there."""
        value: Any = self.body
        for step in address:
            value = value[step]
        return value

    def put(self, address: Address, value: Any) -> None:
        """Another value there."""
        self.at(address[:-1])[address[-1]] = value

    def is_text(self, piece: Piece) -> bool:
        """Whether the piece is a text that stands in the body as it is read."""
        if piece.json or piece.media or not piece.text:
            return False
        value = self.at(piece.address)
        return value == piece.text or (isinstance(value, dict) and value.get("text") == piece.text)

    def say(self, piece: Piece, text: str) -> None:
        """Another text in place of a piece's."""
        value = self.at(piece.address)
        if isinstance(value, dict):
            value["text"] = text
        else:
            self.put(piece.address, text)

    def drop(self, piece: Piece) -> bool:
        """Takes a block out of its list; False where it is no block of a list of several."""
        *above, last = piece.address
        blocks = self.at(tuple(above)) if isinstance(last, int) else None
        if not isinstance(blocks, list) or len(blocks) < 2:
            return False
        del blocks[int(last)]
        return True

    def append(self, piece: Piece, text: str) -> None:
        """A text behind a piece: a block of its own where there are blocks, else a paragraph."""
        *above, last = piece.address
        value = self.at(piece.address)
        if isinstance(last, int) and isinstance(value, dict | str):
            like = value if isinstance(value, dict) else {}
            said: Any = text if isinstance(value, str) else _block(like, text, self.asked.format)
            self.at(tuple(above)).insert(last + 1, said)
        elif isinstance(value, str) and self.blocks and last in ("content", "system"):
            kind = "input_text" if self.asked.format == "responses" else "text"
            self.put(piece.address, [{"type": kind, "text": value}, {"type": kind, "text": text}])
        else:
            self.say(piece, f"{piece.text.rstrip()}\n\n{text}")
        self.moved.append(text)

    def system(self) -> list[Piece]:
        """The texts of the system prompt in front of the conversation."""
        found = []
        for piece in self.asked.pieces:
            if piece.kind not in EARLY:
                break
            if piece.kind != "tool" and self.is_text(piece):
                found.append(piece)
        return found

    def question(self) -> Piece | None:
        """The last piece of the last message of the user's."""
        pieces = self.asked.pieces
        mine = [piece for piece in pieces if piece.message >= 0 and piece.role == "user"]
        return mine[-1] if mine else None


def _block(like: dict[str, Any], text: str, form: str) -> dict[str, Any]:
    if form in ("gemini", "converse"):
        return {"text": text}
    kind = like.get("type", "text")
    if kind not in ("text", "input_text"):
        kind = "input_text" if form == "responses" else "text"
    return {"type": kind, "text": text}
