"""`headstart cache`: the KV in a tier's directory, looked at, checked, thinned out, carried on."""

import json
import secrets
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from headstart.stores import DiskStore, FolderStore
from headstart.stores.inspect import Chunk, Summary, chunks, export, import_into, prune, summarise

app = typer.Typer(
    no_args_is_help=True, pretty_exceptions_enable=False, help="Look after KV kept by --disk."
)

Root = Annotated[
    Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="As given to --disk.")
]
Namespace = Annotated[
    str | None, typer.Option(help="Only this namespace: its folder's name, as ls shows it.")
]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]

DAMAGED = 1
"""Exit status where something can't be used."""


@app.command("ls")
def list_(root: Root, as_json: AsJson = False) -> None:
    """What is kept, by namespace: model, tenant, tokens, bytes, last use."""
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


@app.command()
def verify(root: Root, as_json: AsJson = False) -> None:
    """Read every byte. Exit status 1 if a chunk is damaged; a server would delete it when asked."""
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
    if bad:
        raise typer.Exit(DAMAGED)


@app.command("prune")
def prune_(
    root: Root,
    max_bytes: Annotated[int | None, typer.Option(min=0, help="Remove down to so many.")] = None,
    unused_for: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="Remove what is unused longer.")
    ] = None,
    namespace: Namespace = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> None:
    """Remove chunks, longest unused first, also beside a running server."""
    before = None if unused_for is None else time.time_ns() - int(unused_for * 1e9)
    try:
        gone = prune(
            root, max_bytes=max_bytes, used_before=before, folder=namespace, dry_run=dry_run
        )
    except ValueError as error:
        raise typer.BadParameter(f"{error}.") from error
    size = sum(chunk.physical for chunk in gone)
    verb = "would be removed" if dry_run else "removed"
    print(f"{len(gone)} chunks, {size / 2**20:.1f} MiB {verb}")


@app.command("export")
def export_(
    root: Root,
    archive: Annotated[Path, typer.Argument(metavar="FILE.tar")],
    namespace: Namespace = None,
) -> None:
    """Write the sound chunks to a tar archive."""
    with archive.open("wb") as target:
        left_out = export(root, target, folder=namespace)
    _print_damage(left_out)
    if left_out:
        raise typer.Exit(DAMAGED)


@app.command("import")
def import_(
    root: Annotated[Path, typer.Argument(metavar="DIR", file_okay=False)],
    archive: Annotated[Path, typer.Argument(metavar="FILE.tar", exists=True, dir_okay=False)],
    max_bytes: Annotated[int, typer.Option(min=1, help="What DIR may hold.")] = 20 * 1024**3,
) -> None:
    """Take over an archive's chunks, each verified. Only from where you'd load weights from."""
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
    if done.declined or done.damaged:
        raise typer.Exit(DAMAGED)


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
