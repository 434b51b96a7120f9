"""Recordings of any known format, as one stream that can be read more than once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any, Literal

from headstart.insight.replay import bailian, mooncake
from headstart.insight.replay.bailian import read_bailian
from headstart.insight.replay.bodies import (
    by_bytes,
    by_tokenizer,
    given_prompt,
    given_time,
    read_bodies,
)
from headstart.insight.replay.clock import Assumed
from headstart.insight.replay.files import Files
from headstart.insight.replay.kvt_stream import KvtStream
from headstart.insight.replay.lines import Lines, Moved, TraceError, decoded, end_of_lines, nobody
from headstart.insight.replay.mooncake import read_mooncake
from headstart.insight.replay.report import Kind
from headstart.insight.replay.request import Names, Request, coarsened

Format = Literal["kvt", "mooncake", "bailian", "bodies"]
BODY_FIELDS = ("tokens", "prompt", "messages", "input")
LOG = b'{"request_log":'
"""How each line of the server's own log begins."""
FIRST_LINES = 100
"""That tell what a file of bodies holds."""
SQLITE = b"SQLite format 3\x00"
SPAN_SECONDS, SEED = 24 * 3600.0, 1
"""Of drawn clocks, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How recordings are to be read."""

    block_size: int | None = None
    """Tokens of a block of the cache; None is the recording's own, and 16 for token ids."""
    recorded_block: int | None = None
    """Tokens of a recorded block where the format doesn't say: 512 (Mooncake), 16 (Bailian)."""
    tokenizer: Path | None = None
    span_s: float | None = None
    """Over which conversations without a common clock begin."""
    seed: int | None = None


class Trace:
    """One recording in one or several files: ids mean the same in all of them.

    Raises TraceError for what can't be read."""

    def __init__(self, paths: Sequence[Path], reading: Reading) -> None:
        self.paths = paths
        self._reading = reading
        self._span_s = SPAN_SECONDS if reading.span_s is None else reading.span_s
        self._seed = SEED if reading.seed is None else reading.seed
        for at, path in enumerate(paths):
            if path in paths[:at]:
                raise TraceError(f"{path.name} is given twice")
        formats = {path: _format(path) for path in paths}
        if len(set(formats.values())) != 1:
            listed = ", ".join(f"{path.name}: {form}" for path, form in formats.items())
            raise TraceError(f"recordings of one format at a time, please ({listed})")
        self.format: Format = formats[paths[0]]
        self._kvt: KvtStream | None = None
        if self.format == "kvt":
            self._kvt = KvtStream(paths, span_s=self._span_s, seed=self._seed)
        self._files = Files(len(paths))
        self._timed = self.format == "bodies" and _have_times(paths)
        self._clocks: Sequence[Assumed] = ()
        logs = [path for path in paths if self.format == "bodies" and _is_log(path)]
        self._ends = {path: end_of_lines(path) for path in logs}
        """A server may be writing to its log: what comes after this is not read."""
        self._torn = [path.name for path in logs if path.stat().st_size > self._ends[path]]
        first = next(iter(self._recorded(nobody)), None)
        if first is None:
            raise TraceError(f"{paths[0].name} holds no requests")
        self.texts = self.format == "bodies" and any(map(self._holds_text, paths))
        """Some prompts are recorded as texts, whose lengths are estimates."""
        self.recorded_tokens = first.block_tokens
        """Tokens of a recorded block; 1 where token ids are recorded."""
        self.tokens = self.format == "bodies"
        """Token ids are recorded, so hits are known to the token."""
        self.block_tokens = reading.block_size or (16 if self.tokens else self.recorded_tokens)
        if not self.tokens and self.block_tokens % self.recorded_tokens:
            raise TraceError(
                f"--block-size {self.block_tokens} is no multiple of the recorded"
                f" {self.recorded_tokens} tokens"
            )

    @property
    def size(self) -> int:
        """Bytes of all files: what reading them once moves."""
        return sum(path.stat().st_size for path in self.paths)

    @property
    def lengths(self) -> Kind:
        """How token counts are known: of texts they are estimates."""
        return "estimated" if self.texts else "measured"

    @property
    def times(self) -> Kind:
        """How it is known when requests came, once all are read: kvt's conversations have no common
        clock, and bodies may have none at all."""
        return "estimated" if self.format == "kvt" or self._timeless else "measured"

    @property
    def order(self) -> Kind:
        """How it is known which request came first: bodies without times stand in their order."""
        return "estimated" if self.format == "kvt" else "measured"

    @property
    def gaps_drawn(self) -> bool:
        """Whether time within conversations isn't recorded either."""
        return self._kvt is not None and not self._kvt.clock_recorded

    @property
    def notes(self) -> list[str]:
        """What the recording leaves open, and how that was filled, once all is read."""
        notes = [f"{name}: its last line is cut short and left out." for name in self._torn]
        if len(self.paths) > 1 and self.format != "kvt":
            notes.append(self._files.note)
        return notes + self._filled

    @property
    def _timeless(self) -> int:
        """Requests without a time."""
        return sum(clock.missing for clock in self._clocks)

    @property
    def _filled(self) -> list[str]:
        match self.format:
            case "kvt":
                gaps = ", gaps are drawn" if self.gaps_drawn else ""
                hours = self._span_s / 3600
                return [
                    f"No common clock: conversations begin uniformly over {hours:g} h"
                    f" (seed {self._seed}){gaps}."
                ]
            case "bodies":
                notes = []
                if self._timeless:
                    notes.append(
                        f"Times are assumed: {self._timeless:,} requests have none, and are taken"
                        " to come a second after the one before."
                    )
                if self.texts and self._reading.tokenizer is None:
                    notes.append(
                        "Texts are counted as four bytes to a token: an estimate (see --tokenizer)."
                    )
                elif self.texts:
                    notes.append(
                        "Roles are written as plain words: the chat template is not known."
                    )
                return notes
            case _:
                return []

    def requests(self, moved: Moved = nobody) -> Iterator[Request]:
        """The stream from its begin, in blocks of the cache (or in tokens)."""
        recorded = self._recorded(moved)
        fold = 1 if self.tokens else self.block_tokens // self.recorded_tokens
        if fold == 1:
            return recorded
        if self.format == "bailian":  # Every k-th id only means something where it is a prefix's.
            names = Names(fold)
            return (replace(names.named(each), answer=()) for each in recorded)
        return coarsened(recorded, fold)

    def named(self, moved: Moved = nobody, *, size: int = 1) -> Iterator[Request]:
        """The same with ids that name prefixes, in blocks of `size` recorded ones."""
        requests = self.requests(moved)
        if self.format in ("kvt", "mooncake"):
            return requests if size == 1 else coarsened(requests, size)
        if self.format == "bailian" and size == 1 and self.block_tokens != self.recorded_tokens:
            return requests
        return map(Names(size).named, requests)

    def _recorded(self, moved: Moved) -> Iterator[Request]:
        reading, paths = self._reading, self.paths
        match self.format:
            case "kvt":
                assert self._kvt is not None
                return self._kvt.requests(moved)
            case "mooncake":
                block = reading.recorded_block or mooncake.BLOCK_TOKENS
                return read_mooncake(paths, self._files, block_tokens=block, moved=moved)
            case "bailian":
                block = reading.recorded_block or bailian.BLOCK_TOKENS
                return read_bailian(paths, self._files, block_tokens=block, moved=moved)
            case "bodies":
                return self._bodies(moved)

    def _holds_text(self, path: Path) -> bool:
        """As far as its first lines tell."""
        for number, line in islice(Lines(path, end=self._ends.get(path)), FIRST_LINES):
            row = decoded(path, number, line, dict[str, Any])
            body = row.get("body", row)
            if isinstance(body, dict) and not isinstance(given_prompt(row, body), list):
                return True
        return False

    def _bodies(self, moved: Moved) -> Iterator[Request]:
        tokenizer = self._reading.tokenizer
        encoder = by_bytes if tokenizer is None else by_tokenizer(tokenizer)

        def encode(text: str) -> Sequence[int]:
            self.texts = True
            return encoder(text)

        # One clock goes on through files without times; those of others are their own.
        own = len(self.paths) if self._timed else 1
        self._clocks = clocks = [Assumed() for _ in range(own)]
        read = [
            read_bodies(path, encode, clock=clock, moved=moved, end=self._ends.get(path))
            for path, clock in zip(self.paths, cycle(clocks), strict=False)
        ]
        if not self._timed:
            return chain.from_iterable(read)
        return self._files.by_clock(read, lambda each: each.time_s)


def _format(path: Path) -> Format:
    number, line = next(iter(Lines(path)), (1, b""))
    if not line.strip():
        raise TraceError(f"{path.name}: empty")
    if line.startswith(SQLITE[:-1]):
        raise TraceError(f"{path.name} is a database: a ledger keeps accounts, not what was asked")
    fields = decoded(path, number, line, dict[str, Any])
    if "kvt" in fields:
        return "kvt"
    if "hash_ids" in fields:
        return "bailian" if "parent_chat_id" in fields else "mooncake"
    body = fields.get("body", fields)
    if isinstance(body, dict) and any(name in BODY_FIELDS for name in (*fields, *body)):
        return "bodies"
    raise TraceError(
        f"{path.name}:{number}: neither kvt, Mooncake, Qwen-Bailian nor the body of a request"
    )


def _first(path: Path) -> dict[str, Any]:
    number, line = next(iter(Lines(path)))
    return decoded(path, number, line, dict[str, Any])


def _have_times(paths: Sequence[Path]) -> bool:
    """Whether files of bodies begin with a time; of several, all or none have to."""
    timed = {path: given_time(_first(path)) is not None for path in paths}
    if len(set(timed.values())) > 1:
        one, other = (next(p.name for p in paths if timed[p] is kind) for kind in (True, False))
        raise TraceError(f"{one} has times and {other} has none: they have no order")
    return timed[paths[0]]


def _is_log(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(LOG)) == LOG
