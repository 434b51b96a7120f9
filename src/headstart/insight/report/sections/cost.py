"""What it costs."""

from collections.abc import Iterator

from headstart.insight.plan.figure import Figure, Section
from headstart.insight.report.material import Material
from headstart.insight.report.sections.caching import printable, rate_kind
from headstart.insight.report.sums import Sums

MOST_SHOWN = 8
"""Pairs of model and lifetime."""


def section(material: Material) -> Section:
    """The four classes of tokens, and money."""
    return Section("What it costs", [*_tokens(material), *_money(material)])


def _tokens(material: Material) -> Iterator[Figure]:
    total, kind = material.tally.total, material.kind
    yield Figure("fresh_tokens", "fresh: computed, plain price", total.fresh, "tokens", kind)
    yield Figure("read_tokens", "read from the cache", total.read, "tokens", kind)
    for name, tokens in sorted(total.written.items()):
        yield Figure(f"written_tokens.{name}", f"written for {name}", tokens, "tokens", kind)
    if not total.written:
        yield Figure("written_tokens", "written", 0, "tokens", kind)
    if kind == "measured":
        yield Figure("generated_tokens", "output", total.output, "tokens", kind)
    if total.token_seconds:
        hours = total.token_seconds / 3600
        yield Figure("token_hours", "stored token-hours", hours, "tokens", kind)


def _money(material: Material) -> Iterator[Figure]:
    total, kind = material.tally.total, rate_kind(material)
    how = _of(total)
    if kind == "estimated":
        how += ", without output"
    paid, plain, saved = total.money or (None, None, None)
    yield Figure("paid", "paid", paid, "USD", kind, how)
    yield Figure("without_cache", "without a cache", plain, "USD", kind, how)
    share = f"{saved / plain:.1%} of that" if saved is not None and plain else ""
    yield Figure("saved", "saved", saved, "USD", kind, share)
    if total.rent:
        yield Figure("rent", "of what was paid: storage", total.rent, "USD", kind)
    sources = ", ".join(sorted(material.tally.priced_by))
    if sources:
        day = material.pricing.as_of
        when = "each request's day" if day is None else f"as of {day.isoformat()}"
        yield Figure("prices", "prices from", sources, "", "measured", when)
    yield from _break_even(material)


def _break_even(material: Material) -> Iterator[Figure]:
    """Reads, not uses: the first use is the write."""
    tally = material.tally
    for (model, name), reads in sorted(tally.break_even.items())[:MOST_SHOWN]:
        sums = tally.models[model]
        actual = sums.read / sums.written[name] if sums.written.get(name) else None
        how = f"k > (w - 1) / (1 - r), {printable(model)}"
        if actual is not None and len(sums.written) == 1:
            how += f"; each token written was read {actual:.2f} times"
        key = f"break_even.{model}.{name}"
        yield Figure(key, f"reads that pay a write for {name}", reads, "reads", "derived", how)


def _of(total: Sums) -> str:
    if total.priced == total.requests:
        return "all requests" if total.priced else ""
    return f"{total.priced:,} of {total.requests:,} requests have a known price"
