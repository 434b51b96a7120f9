"""The usual formulas, as people quote them: what a plan's own numbers stand beside.

Each is exact for what it says, and leaves something out; the plan says what.
"""


def linear_flops(parameters: float, tokens: int) -> float:
    """2 N S: a multiplication and an addition for each parameter and token. Leaves out attention,
    and counts the embedding and the head as if every token passed them."""
    return 2 * parameters * tokens


def attention_flops(layers: int, query_dim: int, tokens: int) -> int:
    """4 L S² d_q: scores and values of all heads, without the causal mask, which halves it."""
    return 4 * layers * tokens * tokens * query_dim


def kv_bytes_per_token(layers: int, kv_dim: int, element: int) -> int:
    """2 L d_kv b: keys and values of multi-head or grouped-query attention without windows."""
    return 2 * layers * kv_dim * element


def reusable(prefix: int, question: int) -> float:
    """r = P / (P + Q): the share of the prompt that can be reused, hence the highest hit rate."""
    return prefix / (prefix + question)


def speedup(prefix: int, question: int) -> float:
    """(P + Q) / Q = 1 / (1 - r): N cancels, as long as attention and bandwidth are left out."""
    return (prefix + question) / question


def copies(memory: float, weights: float, prefix_bytes: int) -> int:
    """n_max = (M - M_w) / (k_v P), in whole copies: the last part of one doesn't count."""
    return max(0, int((memory - weights) // prefix_bytes))


def aligned(tokens: int, block: int) -> int:
    """B ⌊P / B⌋: only full blocks are found again."""
    return tokens // block * block


def session_hit_rate(turns: int) -> float:
    """(T - 1) / (T + 1): read over read and written, turns of one size, nothing before them."""
    return (turns - 1) / (turns + 1)


def session_hit_rate_on_base(turns: int, base: int, step: int, *, warm: bool) -> float:
    """The same with `base` tokens (system prompt, tools) before the first turn's `step` tokens.

    Prompt k has base + k step tokens, of which base + (k - 1) step were there before; `warm`: the
    first prompt finds the base in the cache too. Assumes that nothing is edited or expires.
    """
    read = (turns - 1) * (base + step * turns / 2) + (base if warm else 0)
    return read / (turns * (base + step * (turns + 1) / 2))
