"""What the texts of some flags of `headstart serve` mean. Wrong ones are usage errors."""

import typer

from headstart.cache.policies import POLICIES
from headstart.settings import VENDORS


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
