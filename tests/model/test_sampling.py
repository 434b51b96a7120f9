"""Sampling against its definitions, computed apart in float64 with numpy.

Draws are checked by their support (what may come at all) and by a chi-square test of how often each
comes; seeds are fixed, so that a test that passes once passes always.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor
from transformers import RepetitionPenaltyLogitsProcessor

from headstart.model.params import SamplingParams
from headstart.model.sampling import NUCLEUS_GUESS, Sampled, SequenceSampler, Undrawable

Floats = npt.NDArray[np.float64]
VOCAB = 50
CPU = torch.device("cpu")


def logits_of(seed: int, size: int = VOCAB, scale: float = 2.0) -> Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed)) * scale


def sampler_of(
    *,
    prompt: Sequence[int] = (1,),
    vocab: int = VOCAB,
    seed: int = 0,
    mask: Any = None,
    **asked: Any,
) -> SequenceSampler:
    params = SamplingParams(**{"max_tokens": 100, **asked})
    return SequenceSampler(params, prompt, vocab_size=vocab, device=CPU, seed=seed, mask=mask)


def draws(logits: Tensor, count: int, **asked: Any) -> list[int]:
    sampler = sampler_of(vocab=len(logits), **asked)
    return [sampler.sample(logits).token for _ in range(count)]


def distribution(
    logits: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int = 0,
    min_p: float = 0.0,
    top_p: float = 1.0,
) -> Floats:
    """What each token's probability is by the definitions, in the order the module documents."""
    scaled = logits.numpy().astype(np.float64) / temperature
    p = np.exp(scaled - scaled.max())
    order = np.argsort(-p, kind="stable")
    if top_k:
        p[order[top_k:]] = 0  # the k likeliest
    p /= p.sum()
    p[p < min_p * p.max()] = 0  # at least min_p times as likely as the likeliest
    p /= p.sum()
    total, kept = 0.0, []
    for token in order:  # the fewest likeliest tokens whose mass reaches top_p
        if total >= top_p:
            break
        kept.append(token)
        total += p[token]
    nucleus = np.zeros_like(p)
    nucleus[kept] = p[kept]
    return nucleus / nucleus.sum()


OPTIONS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.5},
    {"temperature": 2.0},
    {"top_k": 5},
    {"top_k": VOCAB},
    {"top_k": 10 * VOCAB},
    {"top_p": 0.5},
    {"top_p": 0.05},
    {"min_p": 0.1},
    {"min_p": 1.0},
    {"top_k": 20, "top_p": 0.8, "min_p": 0.02, "temperature": 1.3},
]


@pytest.mark.parametrize("asked", OPTIONS, ids=str)
def test_draws_follow_the_distribution_the_options_define(asked: dict[str, Any]) -> None:
    logits, count = logits_of(3), 4000
    expected = distribution(logits, **asked) * count
    seen = np.bincount(draws(logits, count, seed=11, **asked), minlength=VOCAB)
    assert not seen[expected == 0].any(), "a token that the options exclude"
    common = expected >= 5
    rare = expected[~common].sum()
    bins = [*zip(seen[common], expected[common], strict=True)]
    if rare:
        bins.append((seen[~common].sum(), rare))
    chi_square = sum((s - e) ** 2 / max(e, 1.0) for s, e in bins)
    # Mean k - 1, deviation sqrt(2 (k - 1)): five deviations are never seen by chance.
    freedom = len(bins) - 1
    assert chi_square <= freedom + 5 * (2 * max(freedom, 1)) ** 0.5


@pytest.mark.parametrize("size", [NUCLEUS_GUESS - 1, NUCLEUS_GUESS, 5 * NUCLEUS_GUESS])
@pytest.mark.parametrize("scale", [0.01, 4.0], ids=["flat: beyond the guess", "peaked: within"])
def test_a_nucleus_is_the_same_whether_or_not_the_first_guess_holds_it(
    size: int, scale: float
) -> None:
    logits = logits_of(5, size, scale)
    expected = distribution(logits, top_p=0.9)
    beyond = np.count_nonzero(expected) > NUCLEUS_GUESS
    assert beyond == (scale < 1 and size > NUCLEUS_GUESS / 0.9), "the case is not what it says"
    seen = draws(logits, 300, top_p=0.9)
    assert (expected[seen] > 0).all()
    if beyond:  # nearly all mass is spread evenly: draws reach beyond the guess, too
        order = np.argsort(-logits.numpy())
        assert set(seen) & set(order[NUCLEUS_GUESS : NUCLEUS_GUESS * 2])


@pytest.mark.parametrize(
    "asked",
    [
        {"temperature": 0.0},
        {"temperature": 1e-6},
        {"temperature": 1e-40},
        {"temperature": 1e-300},
        {"top_k": 1},
        {"top_p": 0.0},
    ],
    ids=str,
)
def test_greedy_is_the_likeliest_token_however_it_is_asked_for(asked: dict[str, Any]) -> None:
    for seed in range(20):
        logits = logits_of(seed) * 10
        assert draws(logits, 3, seed=seed, **asked) == [int(logits.argmax())] * 3


def test_a_seed_gives_the_same_tokens_whatever_else_is_drawn() -> None:
    logits = [logits_of(at) for at in range(20)]
    alone = sampler_of(seed=5)
    first = [alone.sample(each).token for each in logits]
    again, other = sampler_of(seed=5), sampler_of(seed=6)
    second, third = [], []
    for each in logits:
        third.append(other.sample(each).token)
        second.append(again.sample(each).token)
        torch.rand(3)
    assert second == first
    assert third != first


def test_log_probabilities_are_those_of_the_model_before_any_option() -> None:
    logits = logits_of(8)
    top = int(logits.argmax())
    sampler = sampler_of(
        logprobs=4, logit_bias={top: -100.0}, temperature=0.3, top_k=3, frequency_penalty=1.0
    )
    exact = logits.double() - logits.double().logsumexp(-1)
    best = sorted(range(VOCAB), key=lambda token: -exact[token])[:4]
    for _ in range(5):
        sampled = sampler.sample(logits)
        assert sampled.token != top
        assert sampled.logprob == pytest.approx(float(exact[sampled.token]), abs=1e-5)
        assert [token for token, _ in sampled.top] == best
        assert [p for _, p in sampled.top] == pytest.approx(exact[best].tolist(), abs=1e-5)


def test_zero_log_probabilities_are_the_chosen_ones_alone_and_none_is_none() -> None:
    logits = logits_of(8)
    with_one = sampler_of(temperature=0.0, logprobs=0).sample(logits)
    assert with_one.logprob == pytest.approx(float(logits.log_softmax(-1).max()), abs=1e-5)
    assert with_one.top == ()
    assert sampler_of(temperature=0.0).sample(logits) == Sampled(with_one.token)


def test_the_repetition_penalty_is_that_of_transformers() -> None:
    """Over prompt and output alike (Keskar et al. 2019, arXiv 1909.05858, section 4.1)."""
    prompt, penalty = [3, 4, 4, 9], 1.7
    reference = RepetitionPenaltyLogitsProcessor(penalty)
    sampler = sampler_of(prompt=prompt, temperature=0.0, repetition_penalty=penalty)
    ids = list(prompt)
    for seed in range(12):
        logits = logits_of(seed)
        logits[ids[-1]] = logits.max() * 1.2  # what came last would come again
        adjusted = reference(torch.tensor([ids]), logits[None].clone())[0]
        token = sampler.sample(logits).token
        assert token == int(adjusted.argmax())
        ids.append(token)


def test_presence_and_frequency_penalties_follow_openais_formula_over_the_output_alone() -> None:
    """mu[j] -> mu[j] - c[j] * alpha_frequency - (c[j] > 0) * alpha_presence, c from the output.

    https://platform.openai.com/docs/guides/text-generation (parameter details)
    """
    prompt = [7] * 50
    for frequency, presence in [(0.7, 0.0), (0.0, 0.9), (0.4, -0.3), (-0.5, 0.2)]:
        sampler = sampler_of(
            prompt=prompt,
            temperature=0.0,
            frequency_penalty=frequency,
            presence_penalty=presence,
        )
        counts = np.zeros(VOCAB)
        for step in range(30):
            logits = logits_of(step % 3, scale=0.5)
            logits[7] = float(logits.max()) + 0.1 * (step == 0)  # the prompt's own is not penalised
            exact = logits.numpy().astype(np.float64)
            exact = exact - counts * frequency - (counts > 0) * presence
            token = sampler.sample(logits).token
            assert exact[token] == pytest.approx(exact.max(), abs=1e-5)
            counts[token] += 1


def test_a_bias_of_100_forces_a_token_and_one_of_minus_100_bans_it() -> None:
    logits = logits_of(2)
    least, most = int(logits.argmin()), int(logits.argmax())
    assert set(draws(logits, 50, logit_bias={least: 100.0})) == {least}
    assert most not in draws(logits, 500, logit_bias={most: -100.0})
    expected = distribution(logits + torch.eye(VOCAB)[least] * 3.0)
    seen = draws(logits, 2000, seed=1, logit_bias={least: 3.0})
    share, deviation = expected[least], (expected[least] / 2000) ** 0.5
    assert seen.count(least) / 2000 == pytest.approx(share, abs=5 * deviation)


@dataclasses.dataclass
class OnlyThese:
    """A grammar that allows a set of tokens and remembers what it was told."""

    tokens: list[int]
    accepted: list[int] = dataclasses.field(default_factory=list)

    @property
    def finished(self) -> bool:
        return len(self.accepted) >= 3

    def allowed(self) -> Tensor:
        return torch.isin(torch.arange(VOCAB), torch.tensor(self.tokens))

    def accept(self, token: int) -> None:
        self.accepted.append(token)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"temperature": 0.0},
        {"top_p": 0.9, "top_k": 40, "min_p": 0.01},
        {"logit_bias": {0: 100.0}, "repetition_penalty": 1.5, "frequency_penalty": 2.0},
    ],
    ids=str,
)
def test_a_grammar_stands_above_every_other_option(asked: dict[str, Any]) -> None:
    logits = logits_of(4)
    unlikely = torch.argsort(logits)[:3].tolist()
    mask = OnlyThese(unlikely)
    sampler = sampler_of(mask=mask, **asked)
    assert not sampler.finished
    tokens = [sampler.sample(logits).token for _ in range(3)]
    assert set(tokens) <= set(unlikely)
    assert mask.accepted == tokens
    assert sampler.finished


def test_the_logits_given_are_left_as_they_were() -> None:
    logits = logits_of(4)
    before = logits.clone()
    sampler_of(
        mask=OnlyThese([1, 2, 3]),
        logit_bias={1: 5.0},
        repetition_penalty=2.0,
        presence_penalty=1.0,
        top_p=0.5,
        min_p=0.1,
        logprobs=2,
    ).sample(logits)
    assert torch.equal(logits, before)


@pytest.mark.parametrize(
    "asked", [{"temperature": 0.0}, {}, {"top_k": 5}, {"top_p": 0.5}, {"min_p": 0.1}]
)
@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_logits_that_leave_no_token_are_an_error_and_never_an_id_that_does_not_exist(
    asked: dict[str, Any], value: float
) -> None:
    with pytest.raises(Undrawable):
        sampler_of(**asked).sample(torch.full((VOCAB,), value))


def test_one_logit_that_is_not_a_number_makes_no_draw_either() -> None:
    logits = logits_of(0)
    logits[7] = float("nan")
    for temperature in (0.0, 1.0):
        with pytest.raises(Undrawable):
            sampler_of(temperature=temperature).sample(logits)
