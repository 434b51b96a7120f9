"""The forms of an explanation."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from headstart.insight.explain.text import as_text, headline, sections, title
from headstart.insight.findings.markdown import code, escaped

Form: TypeAlias = Literal["text", "json", "md"]


def as_json(facts: dict[str, Any]) -> str:
    """The same explanation is the same text."""
    return json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def as_markdown(facts: dict[str, Any]) -> str:
    """For a pull request's comment or a job's summary."""
    parts = [f"### {code(title(facts))}", f"**{escaped(headline(facts))}**"]
    for name, rows in sections(facts):
        cells = (f"| {escaped(label)} | {_cell(said)} |" for label, said in rows)
        parts.append("\n".join([f"| {escaped(name)} | |", "|---|---|", *cells]))
    return "\n\n".join(parts) + "\n"


def _cell(said: str) -> str:
    """A bar would end it, also within a code span."""
    return code(said).replace("|", "\\|") if said else ""


FORMS: Mapping[Form, Callable[[dict[str, Any]], str]] = {
    "text": as_text,
    "json": as_json,
    "md": as_markdown,
}
