"""A text in sentences and lines: what is moved is one of these, whole."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_GAPS = re.compile(
    r"(?:[ \t]*\r?\n)+"
    r"|(?<=[.!?])[ \t]+(?=[^\sa-z]|[\w-]+[ \t]?[=:])"
    r"|(?<=[。！？])[ \t]*(?=[^\s])"
    r"|[ \t]+(?=\([^()\n]*\)[ \t]*(?:\r?\n|$))"
)
_PARAGRAPHS = re.compile(r"(?:[ \t]*\r?\n){2,}")


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of text and the gap behind it."""

    text: str
    gap: str = ""


def units(text: str) -> list[Unit]:
    """Sentences and lines; joined again they are the text."""
    return _split(_GAPS, text)


def paragraphs(text: str) -> list[Unit]:
    """What blank lines divide."""
    return _split(_PARAGRAPHS, text)


def _split(gaps: re.Pattern[str], text: str) -> list[Unit]:
    found, begin = [], 0
    for gap in gaps.finditer(text):
        found.append(Unit(text[begin : gap.start()], gap.group()))
        begin = gap.end()
    return [*found, Unit(text[begin:])] if begin < len(text) else found


def without(parts: Sequence[Unit], taken: Sequence[bool]) -> str:
    """What is left without those that are taken; no two paragraphs become one."""
    kept: list[Unit] = []
    for unit, gone in zip(parts, taken, strict=True):
        if not gone:
            kept.append(unit)
        elif kept and unit.gap.count("\n") > kept[-1].gap.count("\n"):
            kept[-1] = Unit(kept[-1].text, unit.gap)
    if kept and taken[-1]:
        kept[-1] = Unit(kept[-1].text, parts[-1].gap)
    return "".join(unit.text + unit.gap for unit in kept)
