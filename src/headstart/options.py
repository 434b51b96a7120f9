"""How numbers on command lines are read: wrong ones are usage errors."""

from collections.abc import Callable

import typer

from headstart import quantities


def size(text: str | int) -> int:
    """`80GB`, `24GiB` or, as typer hands in defaults, bytes."""
    return quantities.parse_bytes(str(text), error=typer.BadParameter)


def seconds(text: str | float) -> float:
    """`300`, `5m`, `12h`."""
    return quantities.parse_seconds(str(text), error=typer.BadParameter)


def tokens(least: int = 1) -> Callable[[str | int], int]:
    """`4000`, `4k`, `1e6`, of `least` or more."""

    def read(text: str | int) -> int:
        return quantities.parse_tokens(str(text), error=typer.BadParameter, least=least)

    return read
