"""Qwen-Bailian's recordings: JSON lines, an id for what a block holds, whatever stands before it.

Format: https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from headstart.insight.replay.files import Files
from headstart.insight.replay.hash_ids import HashIds
from headstart.insight.replay.lines import Moved, nobody, rows
from headstart.insight.replay.request import Count, Moment, Request

BLOCK_TOKENS = 16
MOST_CHATS = 1 << 20
"""Whose continuation is still recognised."""


class _Line(msgspec.Struct):
    chat_id: int
    parent_chat_id: int
    timestamp: Moment
    """Seconds."""
    input_length: Count
    output_length: Count
    turn: int
    hash_ids: list[int]


def read_bailian(
    paths: Sequence[Path],
    files: Files,
    *,
    block_tokens: int = BLOCK_TOKENS,
    moved: Moved = nobody,
) -> Iterator[Request]:
    """The requests of a trace by their times. Raises TraceError.

    A session is a chat and those that go on from it.
    """
    ids = HashIds(block_tokens)
    sessions: OrderedDict[int, str] = OrderedDict()
    read = [rows(path, _Line, moved) for path in paths]
    for path, number, row in files.by_clock(read, lambda each: each[2].timestamp):
        session = sessions.get(row.parent_chat_id) or str(row.chat_id)
        sessions[row.chat_id] = session
        if len(sessions) > MOST_CHATS:
            sessions.popitem(last=False)
        yield Request(
            time_s=row.timestamp,
            session=session,
            turn=row.turn,
            stop=None,
            blocks=ids.packed(path, number, row.hash_ids, row.input_length),
            prompt_tokens=row.input_length,
            output_tokens=row.output_length,
            block_tokens=block_tokens,
        )
