"""The command line of `headstart lint-code`. Nothing heavy is imported until it runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def lint_code(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SRC…", help="Files, directories, or - for Python on stdin."),
    ] = None,
    select: Annotated[
        list[str] | None, typer.Option(metavar="CODES", help="Only these: HSC101,HSC11.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="CODES", help="Not these.")] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Leave out in directories: tests, *_pb2.py."),
    ] = None,
    diff: Annotated[
        str | None,
        typer.Option(metavar="REF", help="Only findings on lines that git says differ from REF."),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(metavar="WHAT", help="Exit 1 on error, warning, note or CODES.  [note]"),
    ] = None,
    form: Annotated[
        Literal["text", "json", "sarif", "github", "md"], typer.Option("--format")
    ] = "text",
    stdin_name: Annotated[
        str, typer.Option(metavar="NAME", help="What - is called, and so its language.")
    ] = "-",
    explain: Annotated[
        str | None, typer.Option(metavar="CODE", help="Print a code's page, or all, and end.")
    ] = None,
) -> None:
    """Find in source what breaks a prompt's prefix: Python, JavaScript, TypeScript and Jinja.

    Exit: 0 clean, 1 findings, 2 something could not be read, 3 something was not judged.
    """
    from headstart.insight.findings.selection import codes
    from headstart.insight.lint_code.main import explained, main
    from headstart.insight.lint_code.settings import Settings

    if explain is not None:
        raise typer.Exit(explained(explain))
    if not sources:
        raise typer.BadParameter("name a file, a directory or -.", param_hint="SRC…")
    given = Settings(
        select=codes(select or ()),
        ignore=codes(ignore or ()),
        exclude=tuple(exclude or ()),
        fail_on=fail_on or "",
    )
    raise typer.Exit(main(sources, given, form=form, diff=diff, stdin_name=stdin_name))
