"""A replay for people."""

from collections.abc import Iterator
from decimal import Decimal

from headstart.insight.replay.report import Point, Report

LEGEND = "m measured: counted, or run by the cache's own code   d derived   e estimated"


def as_text(report: Report) -> str:
    """One table, what it is about above it, and what to know below it."""
    return "\n".join(line.rstrip() for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    facts, known = report.facts, {name: f"({kind[0]})" for name, kind in report.kinds.items()}
    yield (
        f"{', '.join(facts.files)} ({facts.format}): {facts.requests:,} requests,"
        f" {_tokens(facts.prompt_tokens)} prompt tokens {known['tokens']},"
        f" blocks of {facts.block_tokens}, {facts.span_s / 3600:.1f} h {known['span']}"
    )
    if facts.footprint_tokens is not None and report.ceiling is not None:
        yield (
            f"All different blocks: {_tokens(facts.footprint_tokens)} tokens {known['footprint']}."
            f" A cache without a limit hits {report.ceiling:.2%} {known['ceiling']}."
        )
    yield "; ".join(f"{name} {value}" for name, value in report.setup.items() if value is not None)
    yield ""
    yield from _table(report, known)
    yield ""
    yield LEGEND
    yield "Hit rates are shares of prompt tokens. The optimum knows the future."
    yield from report.notes
    yield from (f"! {finding}" for finding in report.findings)


def _table(report: Report, known: dict[str, str]) -> Iterator[str]:
    tiers = report.levels[1:]
    money = any(point.money is not None for point in report.points)
    replicas = len(report.points[0].outcome.loads) > 1
    head = ["policy", "capacity", f"of all {known['footprint']}", f"hit rate {known['hit_rate']}"]
    head += [f"from {name} {known['hit_rate']}" for name in tiers]
    head += [f"optimum {known['optimum']}"]
    head += [f"most loaded {known['hit_rate']}"] if replicas else []
    head += [f"paid {known['money']}", f"saved {known['money']}"] if money else []
    rows = [
        _row(point, tiers=bool(tiers), money=money, replicas=replicas) for point in report.points
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        yield "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )


def _row(point: Point, *, tiers: bool, money: bool, replicas: bool) -> list[str]:
    outcome = point.outcome
    total = outcome.prompt_tokens or 1
    row = [outcome.policy, _tokens(point.capacity_tokens), _share(point.footprint_share)]
    row.append(f"{outcome.hit_rate:.2%}")
    if tiers:
        row += [f"{tokens / total:.2%}" for tokens in outcome.levels[1:]]
    row.append(_share(point.optimum))
    if replicas:
        mean = sum(outcome.loads) / len(outcome.loads) or 1
        row.append(f"{max(outcome.loads) / mean:.2f}x")
    if money:
        bill = point.money
        row += ["unknown"] * 2 if bill is None else [_dollars(bill.paid), _dollars(bill.saved)]
    return row


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2%}"


def _tokens(number: int) -> str:
    for unit, size in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return str(number)


def _dollars(amount: Decimal) -> str:
    return f"-${-amount:,.2f}" if amount < 0 else f"${amount:,.2f}"
