"""What the model is, and what its KV weighs."""

from headstart.insight.plan.ask import Ask
from headstart.insight.plan.figure import Figure, Kind, Section, Usual


def section(ask: Ask) -> Section:
    """Parameters, weights, KV per token, per prefix and per prompt."""
    shape, kv = ask.model.shape, ask.model.kv
    ranks = ask.machine.ranks
    counted: Kind = "derived" if shape.exact else "estimated"
    figures = [
        Figure(
            "parameters",
            "parameters",
            shape.parameters,
            "parameters",
            counted,
            "the config's dimensions, all experts, a tied head once",
        ),
        Figure(
            "matrix_parameters",
            "of these, at every token",
            shape.matrix,
            "parameters",
            counted,
            "without embedding and head; of experts the active ones",
        ),
        _weights(ask, counted),
        Figure(
            "kv_bytes_per_token",
            "KV per token",
            shape.kv_bytes(kv),
            "bytes/token",
            counted,
            f"layers that keep all positions, {kv.name}",
        ),
    ]
    if ranks > 1:
        figures.append(
            Figure(
                "kv_bytes_per_token_and_gpu",
                "KV per token on each GPU",
                shape.kv_bytes(kv, ranks),
                "bytes/token",
                counted,
                "KV heads are split and rounded up; MLA's latents are whole on each",
            )
        )
    if shape.window_bytes(kv):
        figures.append(
            Figure(
                "window_bytes",
                "windows and chunks, full",
                shape.window_bytes(kv),
                "bytes",
                counted,
                "constant once a prompt is longer than they are",
            )
        )
    if shape.recurrent:
        figures.append(
            Figure(
                "state_bytes",
                "state per checkpoint",
                shape.state_bytes(),
                "bytes",
                "estimated",
                "float32 state, bf16 convolution; reusable only where a checkpoint was kept",
            )
        )
    one = "and one checkpoint" if shape.recurrent else ""
    for key, label, tokens in (
        ("prefix_bytes", "the prefix, resident", ask.prompt.prefix),
        ("prompt_bytes", "a whole prompt, resident", ask.prompt.tokens),
    ):
        size = shape.prefix_bytes(tokens, kv)
        figures.append(
            Figure(key, label, size, "bytes", counted, f"KV of {tokens:,} tokens {one}".strip())
        )
    return Section("Model and KV", figures)


def _weights(ask: Ask, counted: Kind) -> Figure:
    shape, size = ask.model.shape, ask.model.weight_bytes
    usual = Usual(
        2 * ask.nominal_weights, "2 N bytes", "N is rounded, and 16 bits are taken for granted"
    )
    if ask.weights_given:
        return Figure("weight_bytes", "weights", size, "bytes", "derived", "given")
    if shape.quantized:
        how = f"parameters at the bits of {shape.quantized}, some of which stay wider"
        return Figure("weight_bytes", "weights", size, "bytes", "estimated", how, usual)
    return Figure("weight_bytes", "weights", size, "bytes", counted, f"in {shape.dtype}", usual)
