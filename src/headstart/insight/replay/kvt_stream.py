"""A `kvt` recording, of one file or several, as a stream.

Nothing of it is held in memory but when each call comes.
"""

import tempfile
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

from headstart.insight.replay.clock import drawn_begins, drawn_times
from headstart.insight.replay.kvt import read_call, read_header, written_out
from headstart.insight.replay.lines import Lines, Moved, TraceError, nobody
from headstart.insight.replay.meaning import Meaning
from headstart.insight.replay.request import Request


class KvtStream:
    """Conversations have no common clock, so their begins are drawn and all calls sorted by time.

    The lines lie unpacked in a temporary file; a call costs two numbers in memory.
    """

    def __init__(
        self, paths: Sequence[Path], *, span_s: float, seed: int, moved: Moved = nobody
    ) -> None:
        """Reads all of it once. Raises TraceError."""
        self._paths = paths
        self._lines = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the stream)
        offsets, after, turns, whose = array("Q"), array("d"), array("q"), array("I")
        sessions: dict[str, int] = {}
        meaning, at = Meaning(), 0
        self._block_tokens = 0
        for path in paths:
            numbered = iter(Lines(path, moved))
            self._same_blocks(path, read_header(path, *next(numbered, (1, b""))))
            for number, line in numbered:
                call = read_call(path, number, line, self._block_tokens)
                if len(paths) > 1:
                    meaning.check(path, number, written_out(call.runs))
                offsets.append(at)
                after.append(call.after_s)
                turns.append(call.turn)
                whose.append(sessions.setdefault(call.session, len(sessions)))
                at += self._lines.write(line.rstrip() + b"\n")
        names = list(sessions)
        self.clock_recorded = any(after)
        """Within conversations; else gaps are drawn as well."""
        if self.clock_recorded:
            roots = [name.partition(".")[0] for name in names]
            begins = drawn_begins(roots, span_s=span_s, seed=seed)
            starts = [begins[root] for root in roots]
            times = array("d", (starts[who] + gap for who, gap in zip(whose, after, strict=True)))
        else:
            ordered = sorted(range(len(whose)), key=lambda n: (names[whose[n]], turns[n]))
            offsets = array("Q", (offsets[n] for n in ordered))
            times = array("d", drawn_times((names[whose[n]] for n in ordered), span_s, seed=seed))
        order = sorted(range(len(times)), key=times.__getitem__)
        self._times = array("d", (times[n] for n in order))
        self._offsets = array("Q", (offsets[n] for n in order))

    def _same_blocks(self, path: Path, block_tokens: int) -> None:
        if self._block_tokens not in (0, block_tokens):
            raise TraceError(
                f"{path.name}: blocks of {block_tokens} tokens, but {self._paths[0].name} has some"
                f" of {self._block_tokens}"
            )
        self._block_tokens = block_tokens

    def requests(self, moved: Moved = nobody) -> Iterator[Request]:
        """In the order of their times. `moved` hears shares of the files' size."""
        size = sum(path.stat().st_size for path in self._paths)
        calls = max(1, len(self._times))
        for number, (time, offset) in enumerate(zip(self._times, self._offsets, strict=True)):
            self._lines.seek(offset)
            call = read_call(self._paths[0], number, self._lines.readline(), self._block_tokens)
            yield call.at(time, self._block_tokens)
            moved((number + 1) * size // calls - number * size // calls)
