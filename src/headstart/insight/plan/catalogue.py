"""Models by name, from the packaged `catalogue.toml`: dimensions, each with a source and a date."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from headstart.insight.plan.config import parse_config
from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.shape import Shape

_ENDINGS = ("-bf16", "-hf", "-instruct", "-chat", "-base", "-it")


@dataclass(frozen=True, slots=True)
class Row:
    """One model of the catalogue."""

    names: Sequence[str]
    """The first is ours; the others are names it is also known by."""
    nominal: float | None
    """Parameters as the name rounds them: 8e9 of Llama-3-8B."""
    source: str
    date: str
    note: str | None
    """What the source did not say, or says of one of the names only."""
    shape: Shape


def rows() -> Iterator[Row]:
    """All of them, in the file's order."""
    text = (files("headstart.insight.plan") / "catalogue.toml").read_text("utf-8")
    for each in tomllib.loads(text)["model"]:
        name = each["names"][0]
        yield Row(
            each["names"],
            each.get("nominal"),
            each["source"],
            str(each["date"]),
            each.get("note"),
            parse_config(each["config"], name=name),
        )


def find(name: str) -> Row:
    """By a name with or without its owner and `-instruct`. Raises PlanError."""
    wanted = _plain(name)
    known = list(rows())
    for row in known:
        if wanted in map(_plain, row.names):
            return row
    raise PlanError(
        f"'{name}' is neither a model of the catalogue nor a config.json. The catalogue has "
        f"{', '.join(row.names[0] for row in known)}."
    )


def _plain(name: str) -> str:
    plain = name.rpartition("/")[2].lower().replace("_", "-")
    for ending in _ENDINGS:
        plain = plain.removesuffix(ending)
    return plain
