"""What of it a user feels: time to first token."""

from headstart.insight.plan import simple
from headstart.insight.plan.ask import Ask
from headstart.insight.plan.figure import Column, Figure, Section, Table, Usual
from headstart.insight.plan.prefill import prefill
from headstart.insight.plan.sections.prefill import hit, miss

RATES = (0.0, 0.5, 0.8, 0.9)


def section(ask: Ask) -> Section:
    """Prefill and everything that isn't, by hit rate."""
    machine, prompt = ask.machine, ask.prompt
    cold, warm = miss(ask).seconds, hit(ask).seconds
    miss_time, hit_time = cold + machine.overhead, warm + machine.overhead
    rate = machine.flops * machine.ranks
    usual_miss = simple.linear_flops(ask.nominal, prompt.tokens) / rate + machine.overhead
    usual_hit = simple.linear_flops(ask.nominal, prompt.question) / rate + machine.overhead
    lacks = "matrices alone"
    figures = [
        Figure(
            "miss_ttft_seconds",
            "miss",
            miss_time,
            "seconds",
            "estimated",
            "prefill and overhead",
            Usual(usual_miss, "2 N (P + Q) / F + overhead", lacks),
        ),
        Figure(
            "hit_ttft_seconds",
            "hit",
            hit_time,
            "seconds",
            "estimated",
            "prefill and overhead",
            Usual(usual_hit, "2 N Q / F + overhead", lacks),
        ),
        Figure(
            "ttft_ratio",
            "miss over hit",
            miss_time / hit_time,
            "times",
            "estimated",
            "what a user feels: overhead doesn't shrink",
            Usual(usual_miss / usual_hit if usual_hit else None, "the usual two divided", lacks),
        ),
        Figure(
            "miss_prefill_share",
            "prefill's share of a miss",
            cold / miss_time,
            "share",
            "estimated",
            "the most that a cache can take away",
        ),
        Figure(
            "hit_prefill_share",
            "prefill's share of a hit",
            warm / hit_time,
            "share",
            "estimated",
            "the most that faster prefill can still take away",
        ),
    ]
    return Section("Time to first token", figures, [_table(ask)])


def _table(ask: Ask) -> Table:
    prompt, best = ask.prompt, ask.prompt.reusable / ask.prompt.tokens
    given = () if ask.hit_rate is None else (ask.hit_rate,)
    rates = sorted({rate for rate in (*RATES, *given) if rate < best} | {best})
    cold = miss(ask)
    rows = []
    for rate in rates:
        work = prefill(ask.model, ask.machine, round(rate * prompt.tokens), prompt.tokens)
        time = work.seconds + ask.machine.overhead
        rows.append((rate, 1 - rate, work.seconds / cold.seconds, work.seconds, time))
    return Table(
        "hit_rates",
        "By hit rate",
        (
            Column("hit_rate", "hit rate h", "share", "derived"),
            Column("usual_prefill_left", "1 - h", "share", "derived"),
            Column("prefill_left", "prefill left", "share", "estimated"),
            Column("prefill_seconds", "prefill", "seconds", "estimated"),
            Column("ttft_seconds", "first token", "seconds", "estimated"),
        ),
        rows,
        f"No prompt of this kind can do better than {best:.2%}.",
    )
