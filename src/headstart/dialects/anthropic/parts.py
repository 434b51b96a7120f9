"""A request's parts, in Anthropic's order: tools, system, messages (rule A1)."""

import json
from collections.abc import Sequence

from headstart.contracts.prompt import Mark, digest
from headstart.dialects.anthropic.pieces import Piece
from headstart.dialects.anthropic.turns import Turn
from headstart.dialects.chat import Part
from headstart.text.chat import Tool


def to_parts(
    tools: Sequence[tuple[Tool, Mark | None]], system: Sequence[Piece], turns: Sequence[Turn]
) -> tuple[Part, ...]:
    """Every tool and block, and the blocks inside results before them."""
    parts = [_tool(tool, mark, f"tools.{number}") for number, (tool, mark) in enumerate(tools)]
    for piece in (*system, *(piece for turn in turns for piece in turn.pieces)):
        parts += map(_part, piece.inner)
        parts.append(_part(piece))
    return tuple(parts)


def _tool(tool: Tool, mark: Mark | None, path: str) -> Part:
    """The order of its schema's keys counts."""
    schema = json.dumps(tool.parameters, ensure_ascii=False)
    said = json.dumps((tool.name, tool.description, schema), ensure_ascii=False)
    shown = (tool.name, *filter(None, (tool.description,)), schema)
    return Part("tool", digest("tool", said), -1, path, mark, shown=shown)


def _part(piece: Piece) -> Part:
    return Part(
        piece.kind,
        _digest(piece),
        piece.message,
        piece.path,
        piece.mark,
        piece.kind != "thinking",
        _shown(piece),
    )


def _digest(piece: Piece) -> bytes:
    if piece.call is not None:
        call = piece.call
        return digest(piece.kind, call.id, call.name, call.arguments)
    if piece.result_of is not None:
        return digest(piece.kind, piece.result_of, str(piece.failed))
    return digest(piece.kind, piece.text)


def _shown(piece: Piece) -> tuple[str, ...]:
    """What a result is made of is shown by the parts before it."""
    if piece.call is not None:
        return piece.call.name, piece.call.arguments
    return () if piece.kind == "thinking" or piece.result_of is not None else (piece.text,)
