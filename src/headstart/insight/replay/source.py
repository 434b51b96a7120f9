"""Recordings of any known format, as one stream that can be read more than once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from headstart.insight.replay import bailian, mooncake
from headstart.insight.replay.bodies import by_bytes, by_tokenizer, given_prompt, read_bodies
from headstart.insight.replay.kvt_stream import KvtStream
from headstart.insight.replay.lines import Lines, Moved, TraceError, decoded, end_of_lines, nobody
from headstart.insight.replay.report import Kind
from headstart.insight.replay.request import Names, Request, coarsened

Format = Literal["kvt", "mooncake", "bailian", "bodies"]
BODY_FIELDS = ("tokens", "prompt", "messages", "input")
LOG = b'{"request_log":'
"""How each line of the server's own log begins."""
SQLITE = b"SQLite format 3\x00"
SPAN_SECONDS = 8 * 3600.0


@dataclass(frozen=True, slots=True)
class Reading:
    """How recordings are to be read."""

    block_size: int | None = None
    """Tokens of a block of the cache; None is the recording's own, and 16 for token ids."""
    recorded_block: int | None = None
    """Tokens of a recorded block where the format doesn't say: 512 (Mooncake), 16 (Bailian)."""
    tokenizer: Path | None = None
    span_s: float = SPAN_SECONDS
    """Over which conversations without a common clock begin."""
    seed: int = 1


class Trace:
    """One recording in one or several files: ids mean the same in all of them.

    Raises TraceError for what can't be read."""

    def __init__(self, paths: Sequence[Path], reading: Reading) -> None:
        self.paths = paths
        self._reading = reading
        formats = {path: _format(path) for path in paths}
        if len(set(formats.values())) != 1:
            listed = ", ".join(f"{path.name}: {form}" for path, form in formats.items())
            raise TraceError(f"recordings of one format at a time, please ({listed})")
        self.format: Format = formats[paths[0]]
        self._kvt = [
            KvtStream(path, span_s=reading.span_s, seed=reading.seed)
            for path in (paths if self.format == "kvt" else ())
        ]
        logs = [path for path in paths if self.format == "bodies" and _is_log(path)]
        self._ends = {path: end_of_lines(path) for path in logs}
        """A server may be writing to its log: what comes after this is not read."""
        self._torn = [path.name for path in logs if path.stat().st_size > self._ends[path]]
        first = next(iter(self._recorded(nobody)), None)
        if first is None:
            raise TraceError(f"{paths[0].name} holds no requests")
        self._texts = self.format == "bodies" and _holds_text(paths[0])
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
        return "estimated" if self._texts else "measured"

    @property
    def times(self) -> Kind:
        """How it is known when requests came: kvt's conversations have no common clock."""
        return "estimated" if self.format == "kvt" else "measured"

    @property
    def gaps_drawn(self) -> bool:
        """Whether time within conversations isn't recorded either."""
        return not all(each.clock_recorded for each in self._kvt)

    @property
    def notes(self) -> list[str]:
        """What the recording leaves open, and how that was filled."""
        torn = [f"{name}: its last line is cut short and left out." for name in self._torn]
        return torn + self._filled

    @property
    def _filled(self) -> list[str]:
        match self.format:
            case "kvt":
                gaps = ", gaps are drawn" if self.gaps_drawn else ""
                hours, seed = self._reading.span_s / 3600, self._reading.seed
                return [
                    f"No common clock: conversations begin uniformly over {hours:g} h"
                    f" (seed {seed}){gaps}."
                ]
            case "bodies" if not self._texts:
                return []
            case "bodies" if self._reading.tokenizer is None:
                return [
                    "Texts are counted as four bytes to a token: an estimate (see --tokenizer)."
                ]
            case "bodies":
                return ["Roles are written as plain words: the chat template is not known."]
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
        reading = self._reading
        match self.format:
            case "kvt":
                streams = [stream.requests(moved) for stream in self._kvt]
                return merge(*streams, key=lambda request: request.time_s)
            case "mooncake":
                block = reading.recorded_block or mooncake.BLOCK_TOKENS
                return mooncake.read_mooncake(self.paths, block_tokens=block, moved=moved)
            case "bailian":
                block = reading.recorded_block or bailian.BLOCK_TOKENS
                return bailian.read_bailian(self.paths, block_tokens=block, moved=moved)
            case "bodies":
                encode = by_bytes if reading.tokenizer is None else by_tokenizer(reading.tokenizer)
                return chain.from_iterable(
                    read_bodies(path, encode, moved=moved, end=self._ends.get(path))
                    for path in self.paths
                )


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


def _holds_text(path: Path) -> bool:
    number, line = next(iter(Lines(path)))
    fields = decoded(path, number, line, dict[str, Any])
    return not isinstance(given_prompt(fields, fields.get("body", fields)), list)


def _is_log(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(LOG)) == LOG
