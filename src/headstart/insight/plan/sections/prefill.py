"""Operations and time of prefill, on a miss and on a hit."""

from headstart.insight.plan import simple
from headstart.insight.plan.ask import Ask
from headstart.insight.plan.figure import Figure, Kind, Section, Usual
from headstart.insight.plan.prefill import Prefill, prefill, weights_bound_tokens

EMBEDDED = "N counts embedding and head, which tokens don't pass in prefill"


def miss(ask: Ask) -> Prefill:
    """All of the prompt."""
    return prefill(ask.model, ask.machine, 0, ask.prompt.tokens)


def hit(ask: Ask) -> Prefill:
    """What is left after all that can be reused."""
    return prefill(ask.model, ask.machine, ask.prompt.reusable, ask.prompt.tokens)


def section(ask: Ask) -> Section:
    """Both, and how much faster the hit is."""
    shape, prompt, cold, warm = ask.model.shape, ask.prompt, miss(ask), hit(ask)
    total, left, new = prompt.tokens, prompt.question, prompt.tokens - prompt.reusable
    usual_cold = simple.linear_flops(ask.nominal, total)
    usual_hit = simple.linear_flops(ask.nominal, left)
    unmasked = shape.full_attention(total)
    rate = ask.machine.flops * ask.machine.ranks
    half = "half under the causal mask"
    kind: Kind = "derived" if shape.exact else "estimated"
    masked = "to the matrices, not of all operations, and without the mask"
    figures = [
        Figure(
            "miss_linear_flops",
            "miss: matrices",
            cold.linear,
            "flops",
            kind,
            f"2 × parameters at every token × {total:,}",
            Usual(usual_cold, "2 N (P + Q)", EMBEDDED),
        ),
        Figure(
            "miss_attention_flops",
            "miss: attention",
            cold.attention,
            "flops",
            kind,
            "each pair of positions that the mask lets through",
            Usual(unmasked, "4 L S² d_q", half),
        ),
        Figure(
            "attention_share",
            "attention, of all operations",
            cold.attention / cold.flops,
            "share",
            kind,
            "on a miss",
            Usual(unmasked / usual_cold if usual_cold else None, "4 L S² d_q / 2 N S", masked),
        ),
        Figure(
            "attention_ratio",
            "attention, to the matrices",
            cold.attention / cold.linear,
            "share",
            kind,
            "on a miss",
            Usual(
                unmasked / 2 / usual_cold if usual_cold else None,
                "half of 4 L S² d_q / 2 N S",
                EMBEDDED,
            ),
        ),
        Figure(
            "hit_linear_flops",
            "hit: matrices",
            warm.linear,
            "flops",
            kind,
            f"2 × parameters at every token × {new:,}",
            Usual(usual_hit, "2 N Q", EMBEDDED),
        ),
        Figure(
            "hit_attention_flops",
            "hit: attention",
            warm.attention,
            "flops",
            kind,
            "new positions still attend to the reused ones",
            Usual(0, "left out", "a hit doesn't save it"),
        ),
        Figure(
            "miss_prefill_seconds",
            "miss: prefill",
            cold.seconds,
            "seconds",
            "estimated",
            f"bound by {cold.bound}",
            Usual(usual_cold / rate, "2 N (P + Q) / F", "matrices alone"),
        ),
        Figure(
            "hit_prefill_seconds",
            "hit: prefill",
            warm.seconds,
            "seconds",
            "estimated",
            f"bound by {warm.bound}",
            Usual(usual_hit / rate, "2 N Q / F", "matrices alone, however few tokens"),
        ),
        Figure(
            "prefill_speedup",
            "prefill, miss over hit",
            cold.seconds / warm.seconds,
            "times",
            "estimated",
            "the two above",
            Usual(
                simple.speedup(prompt.prefix, left) if left else None,
                "(P + Q) / Q",
                "attention and bandwidth don't shrink with the tokens",
            ),
        ),
        Figure(
            "weights_bound_tokens",
            "bound by bandwidth below",
            weights_bound_tokens(ask.model, ask.machine),
            "tokens",
            "estimated",
            "new tokens that cost less than reading the weights once",
        ),
    ]
    return Section("Prefill", figures)
