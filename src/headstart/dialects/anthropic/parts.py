"""A request's parts, in Anthropic's order: tools, system, messages (rule A1)."""

import json
from collections.abc import Iterator, Sequence

from headstart.contracts.prompt import Mark, digest
from headstart.dialects.anthropic.pieces import Piece
from headstart.dialects.anthropic.turns import Turn
from headstart.dialects.chat import Part
from headstart.text.chat import Tool


def to_parts(
    tools: Sequence[tuple[Tool, Mark | None]], system: Sequence[Piece], turns: Sequence[Turn]
) -> tuple[Part, ...]:
    """Every tool and block, and the blocks inside results before them."""
    pieces = [*system, *(piece for turn in turns for piece in turn.pieces)]
    return (
        *(_tool(tool, mark, f"tools.{number}") for number, (tool, mark) in enumerate(tools)),
        *(part for piece in pieces for part in _parts(piece)),
    )


def _tool(tool: Tool, mark: Mark | None, path: str) -> Part:
    """The order of its schema's keys counts."""
    schema = json.dumps(tool.parameters, ensure_ascii=False)
    said = json.dumps((tool.name, tool.description, schema), ensure_ascii=False)
    shown = (tool.name, *filter(None, (tool.description,)), schema)
    return Part("tool", path, digest(b"tool", said.encode()), shown, mark=mark)


def _parts(piece: Piece) -> Iterator[Part]:
    for inner in piece.inner:
        yield from _parts(inner)
    yield Part(
        piece.kind,
        piece.path,
        digest(piece.kind.encode(), *(word.encode() for word in _said(piece))),
        _shown(piece),
        piece.message,
        piece.mark,
        markable=piece.kind != "thinking",
    )


def _said(piece: Piece) -> tuple[str, ...]:
    if piece.call is not None:
        return piece.call.id, piece.call.name, piece.call.arguments
    if piece.result_of is not None:
        return piece.result_of, str(piece.failed)
    return (piece.text,)


def _shown(piece: Piece) -> tuple[str, ...]:
    """What a result is made of is shown by the parts before it."""
    if piece.call is not None:
        return piece.call.name, piece.call.arguments
    return () if piece.kind == "thinking" or piece.result_of is not None else (piece.text,)
