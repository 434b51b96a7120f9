"""What I read."""

from headstart.insight.asked.count import Counter
from headstart.insight.asked.count.counter import label
from headstart.insight.plan.figure import Column, Figure, Section, Table
from headstart.insight.report.material import Material


def section(material: Material, count: Counter) -> Section:
    """Places, and how much in them could be used for what."""
    tally, kind = material.tally, material.kind
    total = tally.total
    figures = [
        Figure("requests", "requests", total.requests, "", "measured", _how(material)),
        Figure("bodies", "of these with a body", tally.bodies, "", "measured", label(count)),
        Figure("timed", "of these with a time", tally.timed, "", "measured"),
        Figure("prompt_tokens", "prompt tokens", total.prompt, "tokens", kind),
        Figure(
            "output_tokens",
            "output tokens",
            total.output if kind == "measured" else None,
            "tokens",
            kind,
            "" if kind == "measured" else "requests don't say",
        ),
    ]
    if material.left_out:
        figures.append(
            Figure(
                "left_out",
                "requests left out of the sums",
                material.left_out,
                "",
                "measured",
                "without usage, beside others that have some",
            )
        )
    if material.hearing.silent:
        silent = material.hearing.silent
        figures.append(Figure("silent", "neither body nor usage", silent, "", "measured"))
    columns = (
        Column("place", "place", "", "measured"),
        Column("kind", "kind", "", "measured"),
        Column("requests", "requests", "", "measured"),
    )
    rows = [(each.place, each.kind, each.requests) for each in material.sources]
    note = "Sources are added up: give each request once." if len(rows) > 1 else ""
    return Section("What I read", figures, [Table("sources", "Places", columns, rows, note)])


def _how(material: Material) -> str:
    if material.kind == "measured":
        return "counted by the vendor or the server"
    return "no usage: read and written as the vendor's rules and an endless memory would have it"
