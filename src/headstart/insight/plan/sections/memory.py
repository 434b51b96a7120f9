"""How many prefixes stay resident."""

from headstart.insight.plan import simple
from headstart.insight.plan.ask import Ask
from headstart.insight.plan.figure import Figure, Kind, Section, Usual
from headstart.insight.plan.memory import pool_tokens, room

ALL_KV = "no room for anything else: an upper bound, not a number of concurrent requests"


def section(ask: Ask) -> Section:
    """The pool, and copies of the prefix in it."""
    machine, shape, there = ask.machine, ask.model.shape, room(ask)
    prefix = shape.prefix_bytes(ask.prompt.prefix, ask.model.kv, machine.ranks)
    kind: Kind = "estimated" if ask.served is None else "measured"
    figures = [
        Figure("pool_bytes", "KV pool", there.pool, "bytes", kind, _pool(ask)),
        Figure(
            "pool_tokens",
            "tokens in it",
            pool_tokens(ask),
            "tokens",
            kind,
            "as the server tells" if ask.served is not None else "pool over KV per token",
        ),
        Figure(
            "resident_prefixes",
            "resident prefixes n_max",
            there.copies,
            "copies",
            "estimated",
            ALL_KV,
            _usual(ask, prefix),
        ),
    ]
    if ask.served is None and prefix:
        whole = machine.memory / prefix
        figures += [
            Figure(
                "prefix_share_of_memory",
                "one prefix, of the GPU",
                prefix / machine.memory,
                "share",
                "derived",
                "its KV over the GPU's memory",
            ),
            Figure(
                "copies_without_weights",
                "copies if all were KV",
                int(whole),
                "copies",
                "derived",
                "no weights; the last copy has to fit whole",
                Usual(-(-machine.memory // prefix), "rounded up", "the last one doesn't fit"),
            ),
        ]
    return Section("Memory", figures)


def _pool(ask: Ask) -> str:
    if ask.served is not None:
        return f"{ask.served.capacity_tokens:,} tokens that {ask.served.url} tells"
    each = "on each GPU: " if ask.machine.ranks > 1 else ""
    return f"{each}memory less reserve less weights"


def _usual(ask: Ask, prefix: int) -> Usual | None:
    """Weights are 2 N bytes there, unless they were given."""
    if ask.served is not None or not prefix:
        return None
    weights = ask.model.weight_bytes if ask.weights_given else 2 * ask.nominal_weights
    copies = simple.copies(ask.machine.memory, weights / ask.machine.ranks, prefix)
    return Usual(copies, "⌊(M - M_w) / (k_v P)⌋", "no reserve, and weights of 2 N bytes")
