"""What is asked for, from the command line over `[tool.headstart.lint-code]`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from headstart.insight.findings.selection import codes


class ConfigError(ValueError):
    """pyproject.toml can't be used. `str()` is one line for people."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Empty is not said."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    fail_on: str = ""

    def over(self, other: "Settings") -> "Settings":
        """These, and the other's where these say nothing."""
        return Settings(
            select=self.select or other.select,
            ignore=self.ignore or other.ignore,
            exclude=self.exclude or other.exclude,
            fail_on=self.fail_on or other.fail_on,
        )


class _Table(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    select: list[str] = []
    ignore: list[str] = []
    exclude: list[str] = []
    fail_on: str = ""


def read(start: Path) -> Settings:
    """Of the nearest pyproject.toml in `start` or above it. Raises ConfigError."""
    for directory in (start, *start.parents):
        path = directory / "pyproject.toml"
        if path.is_file():
            return _of(path)
    return Settings()


def _of(path: Path) -> Settings:
    try:
        tools = tomllib.loads(path.read_text()).get("tool", {})
        table = msgspec.convert(tools.get("headstart", {}).get("lint-code", {}), _Table)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    return Settings(codes(table.select), codes(table.ignore), tuple(table.exclude), table.fail_on)
