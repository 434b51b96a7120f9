"""What the commands of `headstart cache` do and print."""

import json
import secrets
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from headstart.stores import DiskStore, FolderStore
from headstart.stores.inspect import Chunk, Summary, chunks, export, import_into, prune, summarise

DAMAGED = 1
"""Exit status where something can't be used."""


def list_(root: Path, as_json: bool) -> None:
    """Print what is kept, by namespace: model, tenant, tokens, bytes, last use."""
    found = summarise(chunks(root))
    if as_json:
        _print_json([_summary(each) for each in found])
        return
    table = Table(
        "namespace", "tenant", "salt", "tokens", "chunks", "damaged", "lossy", "MiB", "last used"
    )
    for each in found:
        fields = json.loads(each.text) if each.text else {}
        table.add_row(
            each.folder,
            repr(fields.get("tenant", "?")),
            repr(fields.get("salt")),
            str(each.tokens),
            str(each.chunks),
            str(each.damaged),
            str(each.lossy),
            f"{each.physical / 2**20:.1f}",
            _when(each.newest),
        )
    Console().print(table if found else "Nothing is kept here.")


def verify(root: Path, as_json: bool) -> int:
    """Read every byte; the exit status. What is damaged stays: a server deletes it when asked."""
    count, bad = 0, []
    for chunk in chunks(root, verify=True):
        count += 1
        if chunk.problem:
            bad.append(chunk)
    if as_json:
        _print_json({"chunks": count, "damaged": [_damage(chunk) for chunk in bad]})
    else:
        _print_damage(bad)
        print(f"{count} chunks, {len(bad)} damaged")
    return DAMAGED if bad else 0


def prune_(
    root: Path,
    max_bytes: int | None,
    unused_for: float | None,
    namespace: str | None,
    dry_run: bool,
) -> None:
    """Remove chunks, longest unused first. `ValueError` without a limit."""
    before = None if unused_for is None else time.time_ns() - int(unused_for * 1e9)
    gone = prune(root, max_bytes=max_bytes, used_before=before, folder=namespace, dry_run=dry_run)
    size = sum(chunk.physical for chunk in gone)
    verb = "would be removed" if dry_run else "removed"
    print(f"{len(gone)} chunks, {size / 2**20:.1f} MiB {verb}")


def export_(root: Path, archive: Path, namespace: str | None) -> int:
    """Write the sound chunks to a tar archive; the exit status."""
    with archive.open("wb") as target:
        left_out = export(root, target, folder=namespace)
    _print_damage(left_out)
    return DAMAGED if left_out else 0


def import_(root: Path, archive: Path, max_bytes: int) -> int:
    """Take over an archive's chunks, each verified; the exit status."""
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = FolderStore(
        root, clock=time.monotonic, time_ns=time.time_ns, random=lambda: secrets.token_hex(8)
    )
    store = DiskStore(
        folder,
        max_bytes=max_bytes,
        clock=time.monotonic,
        time_ns=time.time_ns,
        background=_at_once,
    )
    with archive.open("rb") as source:
        done = import_into(store, source)
    print(
        f"{done.kept} chunks taken over, {done.declined} without room, {done.damaged or 0} damaged"
    )
    return DAMAGED if done.declined or done.damaged else 0


def _at_once(work: Callable[[], None]) -> None:
    work()


def _summary(each: Summary) -> dict[str, Any]:
    return {
        "namespace": each.folder,
        "fields": json.loads(each.text) if each.text else None,
        "chunks": each.chunks,
        "damaged": each.damaged,
        "lossy": each.lossy,
        "tokens": each.tokens,
        "bytes": each.physical,
        "last_used": _when(each.newest),
    }


def _damage(chunk: Chunk) -> dict[str, str]:
    return {"path": str(chunk.path), "problem": chunk.problem}


def _print_damage(bad: Iterable[Chunk]) -> None:
    for chunk in bad:
        print(f"{chunk.path}: {chunk.problem}", file=sys.stderr)


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=1, sort_keys=True))


def _when(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, UTC).isoformat(timespec="seconds")
