"""The command lines of `headstart cache`. Nothing heavy is imported until one runs."""

from pathlib import Path
from typing import Annotated

import typer

from headstart.commands import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Look after KV kept by --disk.",
)

Root = Annotated[
    Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="As given to --disk.")
]
Namespace = Annotated[
    str | None, typer.Option(help="Only this namespace: its folder's name, as ls shows it.")
]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


@app.command("ls")
def list_(root: Root, as_json: AsJson = False) -> None:
    """What is kept, by namespace: model, tenant, tokens, bytes, last use."""
    from headstart.insight.kv_files import main

    main.list_(root, as_json)


@app.command()
def verify(root: Root, as_json: AsJson = False) -> None:
    """Read every byte. Exit status 1 if a chunk is damaged; a server would delete it when asked."""
    from headstart.insight.kv_files import main

    raise typer.Exit(main.verify(root, as_json))


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
    from headstart.insight.kv_files import main

    try:
        main.prune_(root, max_bytes, unused_for, namespace, dry_run)
    except ValueError as error:
        raise typer.BadParameter(f"{error}.") from error


@app.command("export")
def export_(
    root: Root,
    archive: Annotated[Path, typer.Argument(metavar="FILE.tar")],
    namespace: Namespace = None,
) -> None:
    """Write the sound chunks to a tar archive."""
    from headstart.insight.kv_files import main

    raise typer.Exit(main.export_(root, archive, namespace))


@app.command("import")
def import_(
    root: Annotated[Path, typer.Argument(metavar="DIR", file_okay=False)],
    archive: Annotated[Path, typer.Argument(metavar="FILE.tar", exists=True, dir_okay=False)],
    max_bytes: Annotated[int, typer.Option(min=1, help="What DIR may hold.")] = 20 * 1024**3,
) -> None:
    """Take over an archive's chunks, each verified. Only from where you'd load weights from."""
    from headstart.insight.kv_files import main

    raise typer.Exit(main.import_(root, archive, max_bytes))
