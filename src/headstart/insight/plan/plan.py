"""From what was asked to the whole plan."""

from headstart.insight.plan import advice
from headstart.insight.plan.ask import Ask
from headstart.insight.plan.figure import Report
from headstart.insight.plan.sections import first_token, kv, memory, money, prefill, reuse, trace


def plan(ask: Ask) -> Report:
    """Everything that follows from `ask`; the same question has the same answer."""
    sections = [
        kv.section(ask),
        reuse.section(ask),
        prefill.section(ask),
        first_token.section(ask),
        memory.section(ask),
    ]
    if ask.offer is not None:
        sections.append(money.section(ask, ask.offer))
    if ask.curve is not None:
        sections.append(trace.section(ask, ask.curve))
    return Report(
        ask.model.shape.name,
        ask.source,
        ask.assumptions,
        sections,
        list(advice.findings(ask)),
        advice.advice(ask),
    )
