"""Look into a store's folder, check it, thin it out, carry it elsewhere. For the command line.

Works beside a running store: what one removes is a miss for the other.
"""

import os
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from headstart.cache.keys import TOKEN_BYTES, BlockKey
from headstart.cache.policies import Lru
from headstart.stores.errors import Foreign, StoreError, Truncated
from headstart.stores.files import Files
from headstart.stores.heat import Heat
from headstart.stores.index import LeafIndex, row_of
from headstart.stores.layout import HEAT_FILE, NAMESPACE_FILE, chunk_path, walk
from headstart.stores.protocol import Store
from headstart.stores.record import Fill, Header, read_header, read_packed, read_payload

FOREVER = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One file of a store's folder."""

    folder: str
    """Its namespace's."""
    key: BlockKey
    path: Path
    physical: int
    """Bytes on the disk."""
    used: int
    """When it was last used, in nanoseconds since 1970, to about a minute: from the pool too."""
    header: Header | None
    """None where it can't be read."""
    problem: str
    """Why its bytes must not be used; empty where nothing is known against them."""

    @property
    def tokens(self) -> int:
        """How many positions it holds; 0 where that can't be read."""
        return len(self.header.record.tokens) // TOKEN_BYTES if self.header else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One namespace's chunks."""

    folder: str
    text: str
    """The namespace as JSON, from a record; empty where none can be read."""
    chunks: int
    damaged: int
    lossy: int
    """Chunks whose KV is not kept to the bit."""
    tokens: int
    physical: int
    oldest: int
    newest: int
    """When its chunks were last used, in nanoseconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of an archive's records."""

    kept: int
    declined: int
    """The store had no room, or couldn't write."""
    damaged: dict[str, int]
    """By reason."""


def chunks(root: Path, *, verify: bool = False) -> Iterator[Chunk]:
    """Every chunk in the folder. Only headers are read, unless `verify`: then every byte is."""
    heat = Heat()
    with suppress(OSError, ValueError):
        heat.load((root / HEAT_FILE).read_bytes())
    for folder, key, path in walk(Files(), root):
        with suppress(FileNotFoundError):
            chunk = _look_at(folder, key, path, verify)
            warmth = heat.get(key)
            used = chunk.used if warmth is None else max(chunk.used, warmth.last)
            yield replace(chunk, used=used)


def summarise(found: Iterable[Chunk]) -> list[Summary]:
    """By namespace, in the order of their folders' names."""
    groups: dict[str, list[Chunk]] = {}
    for chunk in found:
        groups.setdefault(chunk.folder, []).append(chunk)
    return [
        Summary(
            folder=folder,
            text=next((c.header.record.namespace.text.decode() for c in group if c.header), ""),
            chunks=len(group),
            damaged=sum(bool(chunk.problem) for chunk in group),
            lossy=sum(chunk.header is not None and chunk.header.lossy for chunk in group),
            tokens=sum(chunk.tokens for chunk in group),
            physical=sum(chunk.physical for chunk in group),
            oldest=min(chunk.used for chunk in group),
            newest=max(chunk.used for chunk in group),
        )
        for folder, group in sorted(groups.items())
    ]


def prune(
    root: Path,
    *,
    max_bytes: int | None = None,
    used_before: int | None = None,
    folder: str | None = None,
    dry_run: bool = False,
) -> list[Chunk]:
    """Remove chunks, leaf first and longest unused first, and return them.

    Those unused since `used_before`, and as many more as it takes to get down to `max_bytes`; of
    one namespace's `folder`, or of all. A folder alone means everything in it. What can't be read
    goes too.
    """
    if max_bytes is None and used_before is None:
        if folder is None:
            raise ValueError("say what to remove: by size, by age or by namespace")
        max_bytes = 0
    index: LeafIndex[Chunk] = LeafIndex(Lru())
    removed = []
    for chunk in chunks(root):
        if folder is not None and chunk.folder != folder:
            continue
        if chunk.header is None:
            removed.append(chunk)
            continue
        index.found(chunk.key, row_of(chunk.header.record, chunk.physical, chunk.used, chunk))
    for found, used in index.waiting():
        index.resume(found, used)
    while (key := index.victim()) and (oldest := index.get(key)):
        too_old = used_before is not None and oldest.stamp < used_before
        if not too_old and (max_bytes is None or index.bytes <= max_bytes):
            break
        index.remove(key)
        removed.append(oldest.place)
    if not dry_run:
        for chunk in removed:
            _remove(chunk.path)
    return removed


def export(root: Path, target: IO[bytes], *, folder: str | None = None) -> list[Chunk]:
    """Write the sound chunks, of one namespace's folder or of all, to a tar archive.

    Returns those left out, with their problems.
    """
    found = [chunk for chunk in chunks(root) if folder in (None, chunk.folder)]
    found.sort(key=lambda chunk: chunk.header.record.first_position if chunk.header else 0)
    left_out = []
    with tarfile.open(fileobj=target, mode="w|") as archive:
        for chunk in found:
            checked = _look_at(chunk.folder, chunk.key, chunk.path, verify=True)
            if checked.problem:
                left_out.append(checked)
                continue
            name = chunk_path(Path(), chunk.folder, chunk.key).as_posix()
            archive.add(chunk.path, name, recursive=False)
    return left_out


def import_into(store: Store, source: IO[bytes]) -> Imported:
    """Put an archive's records into a store, each verified; its file names don't matter.

    They stay packed as they are.

    Checksums find accidents, not forgeries: import only from where you would load weights from.
    """
    kept = declined = 0
    damaged: Counter[str] = Counter()
    with tarfile.open(fileobj=source, mode="r|") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is None or not member.name.endswith(".kv"):
                continue
            try:
                fill = _fill_from(file)
                record = read_packed(fill, read_header(fill, member.size))
                if store.put(record, deadline=FOREVER):
                    kept += 1
                else:
                    declined += 1
            except StoreError as error:
                damaged[error.reason] += 1
    return Imported(kept=kept, declined=declined, damaged=dict(damaged))


def _look_at(folder: str, key: BlockKey, path: Path, verify: bool) -> Chunk:
    header, problem = None, ""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        fill = _fill_from(file)
        try:
            header = read_header(fill, status.st_size)
            if header.record.key != key or header.record.namespace.folder != folder:
                raise Foreign("a record in another one's place")
            if verify and header.lossy:
                read_packed(fill, header)  # Only who allowed it could unpack it.
            elif verify:
                read_payload(fill, header)
        except StoreError as error:
            problem = f"{error.reason}: {error}"
    return Chunk(
        folder=folder,
        key=key,
        path=path,
        physical=status.st_blocks * 512,
        used=status.st_mtime_ns,
        header=header,
        problem=problem,
    )


def _fill_from(file: IO[bytes]) -> Fill:
    def fill(view: memoryview) -> None:
        data = file.read(len(view))
        if len(data) < len(view):
            raise Truncated("the record is cut off")
        view[:] = data

    return fill


def _remove(path: Path) -> None:
    """With the folders that it leaves empty."""
    path.unlink(missing_ok=True)
    with suppress(OSError):
        path.parent.rmdir()
        if [file.name for file in path.parent.parent.iterdir()] == [NAMESPACE_FILE]:
            (path.parent.parent / NAMESPACE_FILE).unlink()
            path.parent.parent.rmdir()
