"""What to do next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from headstart.insight.causes import ABOUT, Cause
from headstart.insight.lint.linter import WORTH_NAMING
from headstart.insight.plan.figure import Column, Section, Table, Unit, Value
from headstart.insight.report.keeping import NOTHING, Choice, choose
from headstart.insight.report.levers import Lever
from headstart.insight.report.material import Material
from headstart.insight.report.sections.caching import printable
from headstart.insight.report.stuck import stuck

BIG = 0.05
"""Of what was paid, or of all prompt tokens: a lever that saves more is a finding."""
MOST_LEVERS, MOST_KEPT = 20, 4
FIRST_TURNS = (Cause.NO_MARKER, Cause.LOOKBACK)
"""What first turns of sessions may well have: a finding by the share of tokens that lint takes."""
WORTH = Decimal("0.01")
"""Of its cost, what another way of keeping has to save to be advised."""


@dataclass(frozen=True, slots=True)
class Next:
    """The last section, and what follows from all of them."""

    section: Section
    findings: Sequence[str]
    advice: Sequence[str]


def conclude(material: Material) -> Next:
    """Levers, ways of keeping, the target."""
    tally = material.tally
    unread = [lever for lever in tally.unread if lever.tokens]
    levers = _ranked([*tally.levers.ranked(), *unread])
    choices = sorted(_choices(material), key=_gain, reverse=True)[:MOST_KEPT]
    tables = [*_lever_table(levers, material), *_keeping_table(choices)]
    big = [lever for lever in levers if _is_big(lever, material)]
    findings = [*_target(material), *_claims(material), *(_finding(lever) for lever in big)]
    advice = [_way_out(lever) for lever in (big or levers[:3]) if lever.cause is not None]
    advice += [text for choice in choices if (text := _keep(choice))]
    advice += [
        f"{each.model} is stuck at {each.sums.hit_rate:.1%}: {each.why}." for each in stuck(tally)
    ]
    return Next(Section("What to do next", [], tables), findings, advice or [_nothing(material)])


def _ranked(levers: Sequence[Lever]) -> list[Lever]:
    return sorted(levers, key=lambda each: (-(each.money or 0), -each.tokens, each.cause or ""))


def _is_big(lever: Lever, material: Material) -> bool:
    total = material.tally.total
    if lever.cause is None or (
        lever.cause in FIRST_TURNS and lever.tokens < WORTH_NAMING * total.prompt
    ):
        return False
    if lever.money is not None and total.paid:
        return lever.money > Decimal(BIG) * total.paid
    return lever.tokens > BIG * total.prompt


def _finding(lever: Lever) -> str:
    assert lever.cause is not None, "only those with a cause are findings"
    about = ABOUT[lever.cause]
    where = f", first at {lever.first}" if lever.first is not None else ""
    return (
        f"{about.code} {about.title}: {lever.requests:,} requests{_of(lever)}, {lever.tokens:,}"
        f" tokens not read{_worth(lever)}{where}."
    )


def _of(lever: Lever) -> str:
    return f" of {printable(lever.model)}" if lever.model else ""


def _worth(lever: Lever) -> str:
    return "" if lever.money is None else f", ${lever.money:.4f}"


def _way_out(lever: Lever) -> str:
    assert lever.cause is not None, "only those with a cause have a way out"
    about = ABOUT[lever.cause]
    return f"{about.title}{_of(lever)} ({lever.tokens:,} tokens{_worth(lever)}): {about.way_out}"


def _target(material: Material) -> Iterator[str]:
    wanted, total = material.target, material.tally.total
    if wanted is None:
        return
    window = material.window
    rate = total.hit_rate if total.requests else None if window is None else window.hit_rate
    if rate is not None and rate < wanted:
        yield f"The token hit rate is {rate:.1%}, below the target of {wanted:.1%}."
    if total.ceiling is not None and wanted > total.ceiling:
        yield (
            f"The target of {wanted:.1%} is impossible for these requests: their ceiling is"
            f" {total.ceiling:.1%}."
        )


def _claims(material: Material) -> Iterator[str]:
    window, ceiling = material.window, material.tally.total.ceiling
    if window is None or window.claimed is None or ceiling is None:
        return
    if window.claimed > ceiling:
        yield (
            f"{window.engine} states a hit rate of {window.claimed:.1%}: impossible for these"
            f" requests, whose ceiling is {ceiling:.1%}."
        )


def _lever_table(levers: Sequence[Lever], material: Material) -> Iterator[Table]:
    if not levers:
        return
    columns = (
        Column("code", "code", "", "derived"),
        Column("cause", "cause", "", "derived"),
        Column("model", "model", "", "measured"),
        Column("prefix", "prefix", "", "measured"),
        Column("requests", "requests", "", "measured"),
        Column("tokens", "tokens not read", "tokens", "estimated"),
        Column("saves", "mending saves", "USD", "estimated"),
    )
    rows = [_lever_row(lever) for lever in levers[:MOST_LEVERS]]
    hidden = len(levers) - len(rows)
    note = f"{hidden} smaller ones are not shown." if hidden else ""
    by = "money" if material.tally.total.priced else "tokens"
    yield Table("levers", f"What keeps tokens from being read, by {by}", columns, rows, note)


def _lever_row(lever: Lever) -> Sequence[Value]:
    cause = lever.cause
    return (
        "–" if cause is None else ABOUT[cause].code,
        "not known from this" if cause is None else str(cause),
        printable(lever.model) or "–",
        printable(lever.prefix) or "–",
        lever.requests,
        lever.tokens,
        lever.money,
    )


def _choices(material: Material) -> Iterator[Choice]:
    pricing = material.pricing
    for idle in material.tally.gaps:
        asked = idle.asked
        rates = pricing.rates(asked, idle.tokens // max(1, idle.gaps))
        choice = choose(idle, rates, pricing.moment(asked.time))
        if choice is not None:
            yield choice


def _gain(choice: Choice) -> Decimal:
    return choice.default.cost - choice.best.cost


def _keeping_table(choices: Sequence[Choice]) -> Iterator[Table]:
    for dollars in (True, False):
        rows = [row for each in choices if each.dollars is dollars for row in _kept(each)]
        if not rows:
            continue
        unit: Unit = "USD" if dollars else "tokens"
        columns = (
            Column("prefix", "prefix", "", "measured"),
            Column("uses", "uses", "", "measured"),
            Column("median_gap", "median gap", "seconds", "measured"),
            Column("long_gap", "9 of 10 below", "seconds", "measured"),
            Column("way", "way", "", "derived"),
            Column("outlived", "gaps outlived", "share", "measured"),
            Column("warmings", "warmings", "", "derived"),
            Column("cost", "cost" if dollars else "at input price", unit, "estimated"),
            Column("how", "sum", "", "derived"),
        )
        key = "keeping" if dollars else "keeping_unpriced"
        title = "Idle times against lifetimes, the cheapest way of each prefix first"
        yield Table(key, title, columns, rows)


def _kept(choice: Choice) -> Iterator[Sequence[Value]]:
    idle = choice.idle
    for option in choice.options:
        cost: Value = option.cost if choice.dollars else round(option.cost)
        yield (
            printable(idle.name),
            idle.uses,
            idle.quantile(0.5),
            idle.quantile(0.9),
            option.name,
            option.within,
            option.pings,
            cost,
            option.how,
        )


def _keep(choice: Choice) -> str:
    best, default, name = choice.best, choice.default, printable(choice.idle.name)
    if _gain(choice) <= WORTH * default.cost:
        return f"Leave {name} as it is: {default.name} costs least, or nearly."
    saved = f"{_amount(best.cost, choice)} instead of {_amount(default.cost, choice)}"
    if best.name == NOTHING:
        return f"Don't cache {name}: uses lie too far apart ({saved})."
    if best.pings:
        return f"Keep {name} warm ({best.name}, {best.pings:,} warmings): {saved}."
    return f"Take {best.name} for {name}: {saved}."


def _amount(cost: Decimal, choice: Choice) -> str:
    return f"${cost:.4f}" if choice.dollars else f"{cost:,.0f} tokens at the input price"


def _nothing(material: Material) -> str:
    if material.tally.total.requests and not material.tally.bodies and not material.ledgers:
        return "Record bodies too: without them neither a ceiling nor causes can be told."
    return "Nothing found that would save much."
