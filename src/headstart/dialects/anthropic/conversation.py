"""From turns to the canonical conversation."""

from collections.abc import Iterator, Sequence

from headstart.dialects.anthropic.pieces import Piece
from headstart.dialects.anthropic.turns import Turn
from headstart.text.chat import Conversation, Message, Tool, ToolCall

CALL_PREFIX = "toolu_"
"""Of the ids of calls on the wire; templates get them without: some take short ids only."""


def to_conversation(
    system: Sequence[Piece], turns: Sequence[Turn], tools: Sequence[Tool]
) -> Conversation:
    """Blocks are separate paragraphs of one message: a line break joins them."""
    first = [Message("system", _joined(system))] if system else []
    rest = [message for turn in turns for message in _messages(turn)]
    return Conversation((*first, *rest), tuple(tools))


def _messages(turn: Turn) -> Iterator[Message]:
    match turn.role:
        case "assistant":
            yield _assistant(turn.pieces)
        case "system":
            yield Message("system", _joined(turn.pieces))
        case _:
            yield from _user(turn.pieces)


def _assistant(pieces: Sequence[Piece]) -> Message:
    """Thoughts aren't shown: Anthropic leaves those of earlier turns out too."""
    said = [piece for piece in pieces if piece.kind == "assistant"]
    calls = [
        ToolCall(_short(piece.call.id), piece.call.name, piece.call.arguments)
        for piece in pieces
        if piece.call is not None
    ]
    return Message("assistant", _joined(said), tool_calls=tuple(calls))


def _user(pieces: Sequence[Piece]) -> Iterator[Message]:
    said: list[Piece] = []
    for piece in pieces:
        if piece.result_of is None:
            said.append(piece)
            continue
        if said:
            yield Message("user", _joined(said))
            said = []
        text = f"<error>{piece.text}</error>" if piece.failed else piece.text
        yield Message("tool", text, tool_call_id=_short(piece.result_of))
    if said:
        yield Message("user", _joined(said))


def _short(name: str) -> str:
    return name.removeprefix(CALL_PREFIX)


def _joined(pieces: Sequence[Piece]) -> str:
    return "\n".join(piece.text for piece in pieces)
