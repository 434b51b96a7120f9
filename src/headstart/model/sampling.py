"""From logits to tokens, one row a sequence.

Order: raw log probabilities (what `logprobs` reports) → grammar mask → logit bias → repetition,
presence and frequency penalties → temperature → top-k → min-p → top-p → draw. Draws come from a
generator of the sequence's own, so a seed gives the same text in any batch.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from headstart.model.params import SamplingParams

GREEDY_BELOW = 1e-5
"""Temperature, under which the likeliest token is taken: dividing by less overflows."""

NUCLEUS_GUESS = 1024
"""Top-p first sorts this many candidates only; they nearly always hold the mass asked for."""


class Undrawable(ValueError):
    """The logits leave no token to draw: they are not numbers, or all of them are forbidden."""


class TokenMask(Protocol):
    """Which tokens may come next, from a grammar."""

    @property
    def finished(self) -> bool:
        """Nothing but the end of the output may follow."""
        ...

    def allowed(self) -> Tensor:
        """[V] bool."""
        ...

    def accept(self, token: int) -> None:
        """Move on by a drawn token."""
        ...


@dataclass(frozen=True, slots=True)
class Sampled:
    """A drawn token; with log probabilities if asked for: `(token, logprob)`, likeliest first."""

    token: int
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()


class SequenceSampler:
    """One sequence's sampling state."""

    def __init__(
        self,
        params: SamplingParams,
        prompt: Sequence[int],
        *,
        vocab_size: int,
        device: torch.device,
        seed: int,
        mask: TokenMask | None = None,
    ) -> None:
        self._params = params
        self._mask = mask
        self._generator = torch.Generator(device).manual_seed(seed)
        self._bias: Tensor | None = None
        if params.logit_bias:
            self._bias = torch.zeros(vocab_size, device=device)
            ids = torch.tensor(list(params.logit_bias), device=device)
            self._bias[ids] = torch.tensor(list(params.logit_bias.values()), device=device)
        self._seen: Tensor | None = None
        if params.repetition_penalty != 1.0:
            self._seen = torch.zeros(vocab_size, dtype=torch.bool, device=device)
            self._seen[torch.tensor(prompt, device=device)] = True
        self._counts: Tensor | None = None
        if params.presence_penalty or params.frequency_penalty:
            self._counts = torch.zeros(vocab_size, device=device)

    @property
    def finished(self) -> bool:
        """The grammar allows nothing more."""
        return self._mask is not None and self._mask.finished

    def sample(self, logits: Tensor) -> Sampled:
        """Draw the next token from `logits` `[V]` fp32 and remember it. Raises Undrawable."""
        token = self._draw(self._adjusted(logits))
        if self._mask is not None:
            self._mask.accept(token)
        if self._seen is not None:
            self._seen[token] = True
        if self._counts is not None:
            self._counts[token] += 1
        if self._params.logprobs is None:
            return Sampled(token)
        logprobs = logits.log_softmax(-1)
        best = logprobs.topk(self._params.logprobs)
        return Sampled(
            token,
            float(logprobs[token]),
            tuple(zip(best.indices.tolist(), best.values.tolist(), strict=True)),
        )

    def _adjusted(self, logits: Tensor) -> Tensor:
        params = self._params
        if self._mask is not None:
            logits = logits.masked_fill(~self._mask.allowed().to(logits.device), float("-inf"))
        if self._bias is not None:
            logits = logits + self._bias
        if self._seen is not None:
            penalty = params.repetition_penalty
            lowered = torch.where(logits > 0, logits / penalty, logits * penalty)
            logits = torch.where(self._seen, lowered, logits)
        if self._counts is not None:
            logits = logits - params.frequency_penalty * self._counts
            logits = logits - params.presence_penalty * (self._counts > 0)
        return logits

    def _draw(self, logits: Tensor) -> int:
        params = self._params
        if params.temperature < GREEDY_BELOW or params.top_k == 1:
            best, token = logits.max(-1)
            if not best > -math.inf:
                raise Undrawable("no logit is a number above minus infinity")
            return int(token)
        logits = logits / params.temperature
        ids: Tensor | None = None
        if 0 < params.top_k < len(logits):
            logits, ids = logits.topk(params.top_k)
        probabilities = logits.softmax(-1)
        if params.min_p:
            probabilities = probabilities.masked_fill(
                probabilities < params.min_p * probabilities.max(), 0.0
            )
        if params.top_p < 1:
            probabilities, order = _nucleus(probabilities, params.top_p)
            ids = order if ids is None else ids[order]
        mass = probabilities.cumsum(-1, dtype=torch.float64)
        point = mass[-1] * torch.rand(
            1, generator=self._generator, dtype=torch.float64, device=mass.device
        )
        # The first token whose mass goes beyond the point: never one of probability 0.
        drawn = int(torch.searchsorted(mass, point, right=True))
        if drawn == len(mass):
            raise Undrawable("the probabilities are not numbers, or all of them are 0")
        return drawn if ids is None else int(ids[drawn])


def _nucleus(probabilities: Tensor, top_p: float) -> tuple[Tensor, Tensor]:
    """The smallest set of likeliest tokens whose mass reaches `top_p`: probabilities and ids."""
    goal = top_p * float(probabilities.sum())
    values, ids = probabilities.topk(min(NUCLEUS_GUESS, len(probabilities)))
    if float(values.sum()) < goal:
        values, ids = probabilities.sort(descending=True)
    beyond = values.cumsum(-1) - values >= goal
    beyond[0] = False  # The likeliest stays, also at top_p 0.
    return values.masked_fill(beyond, 0.0), ids
