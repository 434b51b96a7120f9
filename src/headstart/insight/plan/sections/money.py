"""What reuse costs and saves."""

from headstart.insight.plan.ask import Ask
from headstart.insight.plan.figure import Column, Figure, Section, Table, Unit
from headstart.insight.plan.money import (
    Offer,
    lives,
    money,
    reads_to_break_even,
    share_to_break_even,
)


def section(ask: Ask, offer: Offer) -> Section:
    """Prices, when a write has paid, and bills by number of uses."""
    unit: Unit = "USD" if offer.dollars else "prefixes"
    once = next(money(offer, ask.prompt, (1,), None))
    rate: Unit = "USD" if offer.dollars else ""
    million = "a million tokens" if offer.dollars else "input price = 1"
    figures = [
        Figure(
            "write_price",
            "written",
            offer.write,
            rate,
            "derived",
            f"{million}, lifetime {offer.lifetime or '–'}",
        ),
        Figure("read_price", "read", offer.read, rate, "derived", million),
        Figure(
            "input_price",
            "input",
            offer.rates.input,
            rate,
            "derived",
            million,
        ),
        Figure(
            "first_prompt",
            "first prompt, written",
            once.prompts,
            unit,
            "derived",
            "input tokens only",
        ),
        Figure("plain_prompt", "the same without a cache", once.prompts_plain, unit, "derived"),
        Figure(
            "break_even_reads",
            "reads that pay a write",
            reads_to_break_even(offer, ask.gap),
            "reads",
            "derived",
            "k > (w - 1) / (1 - r), storage included",
        ),
        Figure(
            "break_even_share",
            "share to be read in the long run",
            share_to_break_even(offer, ask.gap),
            "share",
            "derived",
            "(w - 1) / (w - r): hits per write, not uses, decide",
        ),
    ]
    return Section("Money", figures, [_table(ask, offer)])


def _table(ask: Ask, offer: Offer) -> Table:
    unit: Unit = "USD" if offer.dollars else "prefixes"
    rows = [
        (
            use.uses,
            use.prefix,
            use.prefix_plain,
            use.prefix_saved,
            use.prompts,
            use.prompts_plain,
            use.prompts_saved,
        )
        for use in money(offer, ask.prompt, ask.uses, ask.gap)
    ]
    note = "Input tokens only; output is billed in full either way."
    if not lives(offer, ask.gap):
        note = "Every use comes after the prefix has expired, and writes it again. " + note
    return Table(
        "uses",
        "By uses of the prefix, the first included",
        (
            Column("uses", "uses", "", "derived"),
            Column("prefix", "prefix", unit, "derived"),
            Column("prefix_plain", "no cache", unit, "derived"),
            Column("prefix_saved", "saved", "share", "derived"),
            Column("prompts", "prompts", unit, "derived"),
            Column("prompts_plain", "no cache", unit, "derived"),
            Column("prompts_saved", "saved", "share", "derived"),
        ),
        rows,
        note,
    )
