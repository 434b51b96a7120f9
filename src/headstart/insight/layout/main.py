"""Lays out for a person or a program: the report on stdout, one line on stderr if there is none."""

import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from headstart.insight.asked.count import Counts, counter_of
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.prompt import to_prompt
from headstart.insight.asked.source import read_requests
from headstart.insight.layout.lay_out import lay_out
from headstart.insight.layout.proof import Prover
from headstart.insight.layout.render import as_json
from headstart.insight.layout.text import as_markdown, as_text
from headstart.insight.shown import plain, redacted
from headstart.ledger import PriceBook, Rules
from headstart.ledger.prices import Snapshot

FINE, FINDING, IMPOSSIBLE, ABSTAINED = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class Given:
    """What was asked for."""

    place: str
    provider: str = "auto"
    model: str | None = None
    tokenizer: Path | None = None
    block_size: int = 16
    form: Literal["text", "json", "md"] = "text"
    redact: bool = False


def main(given: Given) -> int:
    """The exit status: 1 where parts or tools are out of order."""
    signs = Signs("" if given.provider == "auto" else given.provider, model=given.model or "")
    try:
        count = counter_of(given.tokenizer)
        troubles: list[Unreadable] = []
        requests = list(
            read_requests([given.place], signs, lambda _, error: troubles.append(error))
        )
    except Unreadable as error:
        print(f"headstart layout: {error}", file=sys.stderr)
        return IMPOSSIBLE
    for trouble in troubles:
        print(f"headstart layout: {trouble}", file=sys.stderr)
    if troubles and not requests:
        return IMPOSSIBLE
    counts = Counts(count)
    prover = Prover(
        lambda asked: to_prompt(asked, counts),
        PriceBook([Snapshot()]),
        datetime.now(UTC),
        Rules.packaged(),
    )
    show = redacted if given.redact else plain
    layout = lay_out(requests, counts, prover, given.block_size, show)
    print({"text": as_text, "json": as_json, "md": as_markdown}[given.form](layout), end="")
    if troubles:
        return IMPOSSIBLE
    if not layout.families:
        return ABSTAINED
    return FINE if all(laid.in_order for laid in layout.families) else FINDING
