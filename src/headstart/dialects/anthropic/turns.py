"""The order that messages have to be in, and the turns they make up."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from msgspec import Struct

from headstart.dialects.anthropic.blocks import Message
from headstart.dialects.anthropic.check import one_of, wrong
from headstart.dialects.anthropic.pieces import Piece, message_pieces
from headstart.dialects.errors import invalid

ROLES = ("user", "assistant", "system")
HOMES: Mapping[str, str] = MappingProxyType(
    {"tool_use": "assistant", "thinking": "assistant", "tool_result": "user"}
)
"""Whose messages may hold such blocks."""
PREFILL = (
    "This model does not support assistant message prefill. "
    "The conversation must end with a user message."
)


class Turn(Struct, frozen=True, gc=False):
    """Consecutive messages of one role: Anthropic takes them for one."""

    role: str
    last: int
    """The index of its last message."""
    pieces: Sequence[Piece]
    calls: Mapping[str, None]
    """The ids of its calls, in order."""
    results: Sequence[Piece]


def to_turns(messages: Sequence[Message]) -> list[Turn]:
    """All messages. Raises ApiError 400 for an order that can't be answered."""
    if not messages:
        raise invalid("messages: at least one message is required", "messages")
    turns = [
        _turn(role, [*group]) for role, group in groupby(enumerate(messages), lambda at: at[1].role)
    ]
    _check_names(turns)
    for before, turn, after in _neighbours(turns):
        _check_system(before, turn, after)
    for before, turn, after in _neighbours(turns):
        _check_results(before, turn)
        _check_calls(turn, after)
    if turns[-1].role == "assistant":
        raise invalid(PREFILL, "messages")
    return turns


def _turn(role: str, messages: Sequence[tuple[int, Message]]) -> Turn:
    pieces = [piece for index, message in messages for piece in _read(message, index)]
    calls = {piece.call.id: None for piece in pieces if piece.call is not None}
    results = [piece for piece in pieces if piece.result_of is not None]
    return Turn(role, messages[-1][0], pieces, calls, results)


def _read(message: Message, index: int) -> list[Piece]:
    one_of(message.role, ROLES, f"messages.{index}.role")
    pieces = message_pieces(message, index)
    if not pieces:
        problem = (
            "system content must contain at least one block"
            if message.role == "system"
            else "all messages must have non-empty content"
        )
        raise wrong(f"messages.{index}", problem)
    for piece in pieces:
        home = HOMES.get(piece.kind, message.role)
        if message.role != home:
            problem = f"`{piece.kind}` blocks can only be in `{home}` messages"
            raise wrong(piece.path, problem)
    return pieces


def _neighbours(turns: Sequence[Turn]) -> Iterator[tuple[Turn | None, Turn, Turn | None]]:
    yield from zip([None, *turns[:-1]], turns, [*turns[1:], None], strict=True)


def _check_system(before: Turn | None, turn: Turn, after: Turn | None) -> None:
    """Where a system message may stand (the API's texts as of 2026-07, shortened)."""
    if turn.role != "system":
        return
    first = turn.pieces[0].message
    if before is None:
        problem = "use the top-level 'system' parameter for the initial system prompt"
        raise wrong(f"messages.{first}", problem)
    if before.role != "user":
        raise wrong(f"messages.{first}", "role 'system' must follow a 'user' message")
    if after is not None and after.role != "assistant":
        problem = "role 'system' must precede an 'assistant' message or end the array"
        raise wrong(f"messages.{turn.last}", problem)


def _check_results(before: Turn | None, turn: Turn) -> None:
    """Every result answers a call of the turn before, and only once."""
    if not turn.results:
        return
    called = {} if before is None else before.calls
    seen: set[str | None] = set()
    for piece in turn.results:
        name = piece.result_of
        if name not in called:
            raise wrong(
                piece.path,
                f"unexpected `tool_use_id` found in `tool_result` blocks: {name}. Each "
                "`tool_result` block must have a corresponding `tool_use` block in the previous "
                "message.",
            )
        if name in seen:
            raise wrong(
                piece.path,
                "each tool_use must have a single result. Found multiple `tool_result` blocks "
                f"with id: {name}",
            )
        seen.add(name)


def _check_calls(turn: Turn, after: Turn | None) -> None:
    """Every call is answered in the next turn."""
    calls = turn.calls
    if not calls or after is None:
        return
    results = {piece.result_of for piece in after.results}
    open_calls = [name for name in calls if name not in results]
    if open_calls:
        raise wrong(
            f"messages.{turn.last}",
            "`tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(open_calls)}. Each `tool_use` block must have a corresponding "
            "`tool_result` block in the next message.",
        )


def _check_names(turns: Sequence[Turn]) -> None:
    seen: set[str] = set()
    for turn in turns:
        for piece in turn.pieces if turn.calls else ():
            if piece.call is None:
                continue
            if piece.call.id in seen:
                raise wrong(piece.path, "`tool_use` ids must be unique")
            seen.add(piece.call.id)
