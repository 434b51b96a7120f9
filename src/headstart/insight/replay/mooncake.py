"""Mooncake's recordings: JSON lines, an id for each block and all that stands before it.

So two prompts share exactly the ids that they have in common, and k-fold blocks are every k-th id.
Format: https://github.com/kvcache-ai/Mooncake, FAST25-release/traces.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from headstart.insight.replay.files import Files
from headstart.insight.replay.hash_ids import HashIds
from headstart.insight.replay.lines import Moved, nobody, rows
from headstart.insight.replay.meaning import Meaning
from headstart.insight.replay.request import Count, Moment, Request

BLOCK_TOKENS = 512


class _Line(msgspec.Struct):
    timestamp: Moment
    """Milliseconds."""
    input_length: Count
    output_length: Count
    hash_ids: list[int]


def read_mooncake(
    paths: Sequence[Path],
    files: Files,
    *,
    block_tokens: int = BLOCK_TOKENS,
    moved: Moved = nobody,
) -> Iterator[Request]:
    """The requests of a trace (.jsonl, .gz) by their times. Raises TraceError."""
    ids = HashIds(block_tokens, Meaning())
    read = [rows(path, _Line, moved) for path in paths]
    for path, number, row in files.by_clock(read, lambda each: each[2].timestamp / 1000):
        yield Request(
            time_s=row.timestamp / 1000,
            session=None,
            turn=None,
            stop=None,
            blocks=ids.packed(path, number, row.hash_ids, row.input_length),
            prompt_tokens=row.input_length,
            output_tokens=row.output_length,
            block_tokens=block_tokens,
        )
