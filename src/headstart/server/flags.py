"""What the texts of some flags of `headstart serve` mean. Wrong ones are usage errors."""

import re

import typer

from headstart.cache.policies import POLICIES
from headstart.settings import VENDORS

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)


def parse_size(text: str | int) -> int:
    """`1GiB`, `512M`, `1.5g` or, as typer hands in defaults, bytes. Units are powers of 1024."""
    found = _SIZE.fullmatch(str(text).strip())
    if found is None or not float(found[1]):
        raise typer.BadParameter(f"'{text}' is no size: write 512MiB, 1GiB or a number of bytes.")
    return int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " "))


def parse_policy(text: str) -> str:
    """The name of an eviction policy."""
    if text not in POLICIES:
        raise typer.BadParameter(f"'{text}' is no policy: choose one of {', '.join(POLICIES)}.")
    return text


def parse_alias(text: str) -> tuple[str, str]:
    """`VENDOR=NAME`."""
    vendor, _, name = text.partition("=")
    if vendor not in VENDORS or not name:
        problem = f"'{text}' is not VENDOR=NAME with a vendor of {', '.join(VENDORS)}."
        raise typer.BadParameter(problem, param_hint="--as")
    return vendor, name


def parse_lora(text: str) -> tuple[str, str]:
    """`NAME=DIR`."""
    name, equals, directory = text.partition("=")
    if not (name and equals and directory):
        problem = f"'{text}' is not NAME=DIR, such as sql=./adapters/sql."
        raise typer.BadParameter(problem, param_hint="--lora")
    return name, directory
