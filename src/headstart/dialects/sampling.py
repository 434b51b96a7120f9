"""How an answer's tokens are drawn, as every dialect says it in its own words."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the request wants its tokens drawn; every value is in range."""

    max_tokens: int | None = None
    """None: as many as fit."""
    fitting: bool = False
    """Whether fewer tokens than `max_tokens` will do where more don't fit."""
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    seed: int | None = None
    stop: tuple[str, ...] = ()
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    logprobs: int | None = None
    """None: none. k: the chosen token's and the k likeliest ones'."""
