"""How much of a prompt can be reused, and what a session of many turns makes of it."""

from headstart.insight.plan import simple
from headstart.insight.plan.ask import Ask
from headstart.insight.plan.figure import Figure, Section, Usual


def section(ask: Ask) -> Section:
    """The ceiling, what blocks leave of it, and the expectation for a session."""
    prompt = ask.prompt
    lacks = ""
    if prompt.reusable < prompt.prefix:
        lacks = "a block that isn't full is not found, and a prompt's last token is computed"
    figures = [
        Figure(
            "ceiling",
            "highest hit rate r",
            prompt.ceiling,
            "share",
            "derived",
            "P / (P + Q), of tokens, never of requests",
        ),
        Figure(
            "reusable_tokens",
            "reusable tokens",
            prompt.reusable,
            "tokens",
            "derived",
            f"B ⌊min(P, P + Q - 1) / B⌋, B = {prompt.block}",
            Usual(prompt.prefix, "P", lacks),
        ),
        Figure(
            "reusable_share",
            "hit rate with these blocks",
            prompt.reusable / prompt.tokens,
            "share",
            "derived",
            "reusable tokens over P + Q",
        ),
    ]
    if ask.hit_rate is not None:
        figures.append(
            Figure("hit_rate", "hit rate given", ask.hit_rate, "share", "derived", "given")
        )
    return Section("Reuse", [*figures, *_session(ask)])


def _session(ask: Ask) -> list[Figure]:
    if ask.session is None:
        return []
    turns, step, base = ask.session.turns, ask.session.step, ask.prompt.prefix
    usual = simple.session_hit_rate(turns)
    how = f"{turns} turns of {step:,} tokens on {base:,}; nothing edited, nothing expires"
    return [
        Figure(
            f"session_hit_rate_{name}",
            f"session, {told}",
            simple.session_hit_rate_on_base(turns, base, step, warm=warm),
            "share",
            "estimated",
            how,
            Usual(usual, "(T - 1) / (T + 1)", "no prefix before the first turn"),
        )
        for name, told, warm in (
            ("cold", "first prompt cold", False),
            ("warm", "prefix found at once", True),
        )
    ]
