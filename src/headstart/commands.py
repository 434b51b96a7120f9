"""Groups of commands that cost nothing until one is chosen."""

import pkgutil
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class Commands(TyperGroup):
    """A group that hands over to the command it is called with, and reads its own options else.

    typer reads options with pydantic, whose import takes longer than all of a command's help.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        *rest: Any,
        **extra: Any,
    ) -> Any:
        """Run the command that `args` (None: those of the process) begin with."""
        given = sys.argv[1:] if args is None else list(args)
        if given and given[0] in self.commands:
            path = f"{prog_name or self.name} {given[0]}"
            return self.commands[given[0]].main(given[1:], path, *rest, **extra)
        return super().main(given, prog_name, *rest, **extra)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each with all of its sentence: typer would cut it off at the end of the line."""
        commands = [self.commands[name] for name in self.list_commands(ctx)]
        rows = [(each.name or "", each.short_help or each.help or "") for each in commands]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Deferred(TyperCommand):
    """A command of which name and sentence are known; all else is imported when it is asked for.

    `target` is `module:name` of a function with typed options, or of a `typer.Typer`.
    """

    def __init__(self, name: str, target: str, sentence: str) -> None:
        super().__init__(name, short_help=sentence)
        self._target = target

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run it."""
        return self._load().main(*args, **extra)

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read its options, as a shell's completion asks for."""
        return self._load().make_context(*args, **extra)

    def _load(self) -> Any:
        found = pkgutil.resolve_name(self._target)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command()(found)
        return typer.main.get_command(alone)
