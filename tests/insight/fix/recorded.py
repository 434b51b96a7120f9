"""Bodies as recordings, and what `fix` makes of them."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.count import Counts, Estimate
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.read import read
from headstart.insight.causes import Cause
from headstart.insight.fix.fixing import Fixed, fix
from headstart.insight.fix.needs import needs
from headstart.insight.fix.trial import Score, Trial, begin, rewritten
from headstart.insight.lint.linter import Linter
from headstart.ledger import PriceBook, Rules

RULES, PRICES = Rules.packaged(), PriceBook.standard()
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def asks(bodies: Sequence[Any], signs: Signs) -> list[Asked]:
    """Each from a body of its own."""
    return [read(json.loads(json.dumps(body)), signs) for body in bodies]


def trial(requests: Sequence[Asked]) -> Trial:
    """With the packaged rules and prices."""
    return Trial(lambda: requests, Counts(Estimate()), rules=RULES, prices=PRICES, now=NOW)


def score(bodies: Sequence[Any], signs: Signs) -> Score:
    """What a vendor would read of them."""
    return trial(asks(bodies, signs)).score()


def causes(requests: Sequence[Asked]) -> list[Cause]:
    """What the linter names."""
    return linted(requests).causes


def linted(requests: Sequence[Asked]) -> Linter:
    """Having heard them all."""
    linter = Linter(Estimate())
    for asked in requests:
        linter.hear(asked)
    return linter


def fixed(bodies: Sequence[Any], signs: Signs) -> tuple[Fixed, list[Asked]]:
    """What is done, and the requests it leaves."""
    requests = asks(bodies, signs)
    linter = linted(requests)
    found = fix(needs(linter.broken, linter.causes), linter.causes, trial(requests), RULES)
    begin(found.plan)
    return found, [rewritten(asked, found.plan, RULES)[0] for asked in requests]


def write(path: Path, bodies: Sequence[Any]) -> Path:
    """As JSONL."""
    path.write_text(
        "".join(json.dumps(body, ensure_ascii=False) + "\n" for body in bodies), encoding="utf-8"
    )
    return path
