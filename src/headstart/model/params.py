"""What a request may ask of sampling. Plain data, no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

NO_BIAS: Mapping[int, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Grammar:
    """A constraint on the output, in llguidance's terms.

    kind `json_schema`: source is a JSON schema as JSON text (`{"type":"object"}` for any object);
    kind `lark`: source is a llguidance Lark grammar.
    """

    kind: Literal["json_schema", "lark"]
    source: str


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How one request is sampled. Ranges are checked by the dialect that built it."""

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    """0 keeps every token."""
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=lambda: NO_BIAS)
    seed: int | None = None
    stop: tuple[str, ...] = ()
    stop_token_ids: tuple[int, ...] = ()
    """Ends the output like an end-of-sequence token, besides the model's own."""
    ignore_eos: bool = False
    logprobs: int | None = None
    """None: none. k: the chosen token's and the k most likely ones'."""
    grammar: Grammar | None = None
