"""The sampling fields that the endpoints share, and their ranges."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import msgspec
from msgspec import Meta

from headstart.dialects.cache_hints import CacheHints
from headstart.dialects.errors import invalid
from headstart.dialects.sampling import Sampling

MAX_STOPS = 4
MAX_CHOICES = 128

Penalty = Annotated[float, Meta(ge=-2.0, le=2.0)]
Seed = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
TokenId = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class StreamOptions(msgspec.Struct):
    """`stream_options`."""

    include_usage: bool | None = None


class DrawingFields(msgspec.Struct, kw_only=True):
    """Fields of every endpoint that generates; null means the default everywhere.

    `top_k`, `min_p`, `repetition_penalty`, `stop_token_ids`, `ignore_eos`, `cache_salt` and, in
    Responses, `seed` are extensions to OpenAI's API, spelled as other open servers spell them;
    `cache_hints` is our own.
    """

    temperature: Annotated[float, Meta(ge=0.0, le=2.0)] | None = None
    top_p: Annotated[float, Meta(gt=0.0, le=1.0)] | None = None
    top_k: Annotated[int, Meta(ge=-1)] | None = None
    min_p: Annotated[float, Meta(ge=0.0, le=1.0)] | None = None
    repetition_penalty: Annotated[float, Meta(gt=0.0)] | None = None
    seed: Seed | None = None
    stop_token_ids: list[TokenId] | None = None
    ignore_eos: bool | None = None
    cache_salt: str | None = None
    cache_hints: CacheHints | None = None

    def drawing(self, *, max_tokens: int | None, logprobs: int | None) -> Sampling:
        """Fill in OpenAI's defaults."""
        return Sampling(
            max_tokens=max_tokens,
            temperature=1.0 if self.temperature is None else self.temperature,
            top_p=1.0 if self.top_p is None else self.top_p,
            top_k=max(self.top_k or 0, 0),
            min_p=self.min_p or 0.0,
            repetition_penalty=self.repetition_penalty or 1.0,
            seed=self.seed,
            stop_token_ids=tuple(self.stop_token_ids or ()),
            ignore_eos=bool(self.ignore_eos),
            logprobs=logprobs,
        )

    def salt(self) -> str | None:
        """`cache_salt`: requests with different salts share no KV. Raises ApiError 400 for ''."""
        if self.cache_salt == "":
            raise invalid("'cache_salt' must not be empty: leave it out.", "cache_salt")
        return self.cache_salt


class SamplingFields(DrawingFields, kw_only=True):
    """And those that only chat and text completions have."""

    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    logit_bias: dict[str, Annotated[float, Meta(ge=-100.0, le=100.0)]] | None = None
    stop: str | list[str] | None = None
    n: Annotated[int, Meta(ge=1, le=MAX_CHOICES)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None

    def sampling(self, *, max_tokens: int | None, logprobs: int | None) -> Sampling:
        """Fill in OpenAI's defaults. Raises ApiError 400 for what the types can't say."""
        return replace(
            self.drawing(max_tokens=max_tokens, logprobs=logprobs),
            presence_penalty=self.presence_penalty or 0.0,
            frequency_penalty=self.frequency_penalty or 0.0,
            logit_bias=_bias(self.logit_bias or {}),
            stop=_stops(self.stop),
        )

    def include_usage(self) -> bool:
        """Whether the stream ends with a usage chunk. Raises ApiError 400 outside a stream."""
        if self.stream_options is None:
            return False
        if not self.stream:
            message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
            raise invalid(message, "stream_options")
        return bool(self.stream_options.include_usage)


def _stops(stop: str | list[str] | None) -> tuple[str, ...]:
    stops = (stop,) if isinstance(stop, str) else tuple(stop or ())
    if len(stops) > MAX_STOPS:
        raise invalid(f"'stop' takes up to {MAX_STOPS} sequences, not {len(stops)}.", "stop")
    if "" in stops:
        raise invalid("'stop' must not hold an empty string: it would match everywhere.", "stop")
    return stops


def _bias(bias: Mapping[str, float]) -> dict[int, float]:
    for key in bias:
        if not (key.isascii() and key.isdigit() and len(key) < 10):
            message = f"Invalid key in 'logit_bias': '{key}'. Keys are token ids, such as '50256'."
            raise invalid(message, "logit_bias", "invalid_value")
    return {int(key): value for key, value in bias.items()}
