"""A `kvt` recording as a stream that holds none of it in memory but when each call comes."""

import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path

from headstart.insight.replay.clock import drawn_begins, drawn_times
from headstart.insight.replay.kvt import read_call, read_header
from headstart.insight.replay.lines import Lines, Moved, nobody
from headstart.insight.replay.request import Request


class KvtStream:
    """Conversations have no common clock, so their begins are drawn and all calls sorted by time.

    The lines lie unpacked in a temporary file; a call costs two numbers in memory.
    """

    def __init__(self, path: Path, *, span_s: float, seed: int, moved: Moved = nobody) -> None:
        """Reads all of it once. Raises TraceError."""
        self._path = path
        self._lines = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the stream)
        offsets, after, turns, whose = array("Q"), array("d"), array("q"), array("I")
        sessions: dict[str, int] = {}
        numbered = iter(Lines(path, moved))
        self._block_tokens = read_header(path, *next(numbered, (1, b"")))
        at = 0
        for number, line in numbered:
            call = read_call(path, number, line, self._block_tokens)
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

    def requests(self, moved: Moved = nobody) -> Iterator[Request]:
        """In the order of their times. `moved` hears shares of the file's size."""
        size, calls = self._path.stat().st_size, max(1, len(self._times))
        for number, (time, offset) in enumerate(zip(self._times, self._offsets, strict=True)):
            self._lines.seek(offset)
            call = read_call(self._path, number, self._lines.readline(), self._block_tokens)
            yield call.at(time, self._block_tokens)
            moved((number + 1) * size // calls - number * size // calls)
