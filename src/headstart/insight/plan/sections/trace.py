"""What a recorded trace would hit, by cache size."""

from headstart.insight.plan.ask import Ask
from headstart.insight.plan.figure import Column, Figure, Section, Table
from headstart.insight.plan.trace import Curve


def section(ask: Ask, curve: Curve) -> Section:
    """The ceiling, the plan's own point, and the curve."""
    known, per_token = curve.kinds, ask.model.shape.kv_bytes(ask.model.kv)
    figures = [
        Figure(
            "trace_ceiling",
            "hit rate without a limit",
            curve.ceiling,
            "share",
            known["ceiling"],
            f"{curve.requests:,} requests of {curve.name}",
        ),
        Figure(
            "trace_footprint",
            "all its different blocks",
            curve.footprint_tokens * per_token,
            "bytes",
            known["footprint"],
            f"{curve.footprint_tokens:,} tokens",
        ),
        *(
            Figure(
                f"trace_hit_rate_{policy}",
                f"hit rate in this pool, {policy}",
                rate,
                "share",
                known["hit_rate"],
                f"blocks of {curve.block_tokens} tokens",
            )
            for policy, rate in curve.planned.rates.items()
        ),
    ]
    rows = [
        (
            point.tokens * per_token,
            point.tokens / curve.footprint_tokens,
            *point.rates.values(),
            point.optimum,
        )
        for point in curve.points
    ]
    return Section(
        "Trace",
        figures,
        [
            Table(
                "capacities",
                "By cache size",
                (
                    Column("bytes", "KV", "bytes", "derived"),
                    Column("footprint", "of all blocks", "share", known["footprint"]),
                    *(
                        Column(policy, policy, "share", known["hit_rate"])
                        for policy in curve.policies
                    ),
                    Column("optimum", "optimum", "share", known["optimum"]),
                ),
                rows,
                " ".join(
                    ["The cache's own code ran it; the optimum knows the future.", *curve.notes]
                ),
            )
        ],
    )
