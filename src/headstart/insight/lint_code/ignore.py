"""Comments that take findings back: `headstart: ignore` and `headstart: ignore[HSC101]`."""

import re
from collections.abc import Iterable, Mapping, Sequence

from headstart.insight.findings.finding import Finding
from headstart.insight.findings.place import Place

_COMMENT = re.compile(r"(?:#|//|/\*|\{#-?)\s*headstart:\s*ignore(?:\[([\w\s,]*)\])?")


def kept(findings: Iterable[Finding], lines: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Without those that a comment takes back, where they are sent or where they begin."""
    return [
        finding
        for finding in findings
        if not any(
            _ignores(_line(place, lines), finding.code)
            for place in (finding.where, *(step.where for step in finding.steps[:1]))
        )
    ]


def _line(place: Place, lines: Mapping[str, Sequence[str]]) -> str:
    of_file = lines.get(place.path, ())
    number = place.line or 0
    return of_file[number - 1] if 0 < number <= len(of_file) else ""


def _ignores(line: str, code: str) -> bool:
    found = _COMMENT.search(line)
    if found is None:
        return False
    codes = found[1]
    return codes is None or any(
        code.startswith(each.strip()) for each in codes.split(",") if each.strip()
    )
