"""From a parsed request to what the engine takes."""

from collections.abc import Sequence
from functools import partial

from headstart.contracts.prompt import Prompt
from headstart.dialects.cache_hints import CacheHints
from headstart.dialects.chat import ChatRequest
from headstart.dialects.errors import context_length_exceeded, invalid
from headstart.dialects.sampling import Sampling
from headstart.engine.api import Hints
from headstart.model.params import Grammar, SamplingParams
from headstart.server.context import Context
from headstart.text.chat import Conversation
from headstart.text.codec import Codec
from headstart.text.ends import Ends


def encode(
    ctx: Context,
    prompt: Conversation | str | Sequence[int],
    field: str,
    tenant: str,
    *,
    special_tokens: bool = True,
) -> Sequence[int]:
    """Token ids of a prompt, at least one. `field` is where it came from. Raises ApiError 400.

    Costs by what is new since the tenant's earlier prompts.
    """
    match prompt:
        case Conversation():
            ids: Sequence[int] = ctx.codec.encode_chat(prompt, tenant)
        case str() if special_tokens:
            ids = ctx.codec.encode_prompt(prompt, tenant)
        case str():
            ids = ctx.codec.encode(prompt, tenant)
        case _:
            ids = prompt
            check_ids(ctx, ids, field)
    if not ids:
        raise invalid(f"'{field}' must not be empty: there is no token to begin with.", field)
    return ids


def locate(ctx: Context, asked: ChatRequest, tenant: str) -> Prompt:
    """The prompt as contracts see it."""
    text = ctx.codec.render(asked.conversation)
    return to_prompt(ctx.codec, asked, text, ctx.codec.encode(text, tenant), tenant)


def to_prompt(
    codec: Codec, asked: ChatRequest, text: str, ids: Sequence[int], tenant: str
) -> Prompt:
    """The same, of what is rendered and encoded already."""
    shown = [part.shown for part in asked.parts]
    return Prompt(
        tenant=tenant,
        model=asked.model,
        blocks=asked.parts,
        ids=ids,
        partition=asked.partition,
        settings=asked.settings,
        wishes=asked.wishes,
        ends=Ends(text, shown, partial(codec.ruler, text, ids, tenant)),
    )


def to_hints(asked: CacheHints, *, tools: bool = False) -> Hints:
    """Hints as the engine knows them. `tools`: an answer may end in a call, which is soon back."""
    return Hints(asked.session, asked.ended, asked.expected_gap, tools)


def check_length(ctx: Context, text: str, field: str) -> None:
    """Raises ApiError 400 for a text that is too long in any tokens: to count them takes seconds.

    A text of 20 MB has some five million.
    """
    limit = ctx.engine.context_length
    least = -(-len(text) // ctx.codec.longest_token)
    if least > limit:
        message = (
            f"This model's maximum context length is {limit} tokens. However, you requested"
            f" at least {least} tokens in the {field}. Reduce its length."
        )
        raise context_length_exceeded(message, field, prompt_tokens=least, limit=limit)


def check_ids(ctx: Context, ids: Sequence[int], field: str) -> None:
    """Raises ApiError 400 for ids the model has no token for."""
    size = ctx.vocab_size
    if ids and not 0 <= min(ids) <= max(ids) < size:
        worst = next(i for i, token in enumerate(ids) if not 0 <= token < size)
        message = (
            f"'{field}[{worst}]': {ids[worst]} is no token id of this model (0 to {size - 1})."
        )
        raise invalid(message, f"{field}[{worst}]", "invalid_value")


def to_params(
    ctx: Context, sampling: Sampling, prompt_tokens: int, grammar: Grammar | None, field: str
) -> SamplingParams:
    """Sampling as the engine knows it. Raises ApiError 400 for what can't fit into the context."""
    limit = ctx.engine.context_length
    room = limit - prompt_tokens
    wanted = sampling.max_tokens
    too_many = wanted is not None and wanted > room and not sampling.fitting
    if room < 1 or too_many:
        asked = f" and {wanted} for the completion" if wanted is not None else ""
        message = (
            f"This model's maximum context length is {limit} tokens. However, you requested"
            f" {prompt_tokens} tokens in the {field}{asked}. Reduce the length of either."
        )
        raise context_length_exceeded(message, field, prompt_tokens=prompt_tokens, limit=limit)
    bias = sampling.logit_bias
    if bias and max(bias) >= ctx.vocab_size:
        message = f"'logit_bias': {max(bias)} is no token id (0 to {ctx.vocab_size - 1})."
        raise invalid(message, "logit_bias", "invalid_value")
    return SamplingParams(
        max_tokens=room if wanted is None else min(wanted, room),
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        min_p=sampling.min_p,
        repetition_penalty=sampling.repetition_penalty,
        presence_penalty=sampling.presence_penalty,
        frequency_penalty=sampling.frequency_penalty,
        logit_bias=bias,
        seed=sampling.seed,
        stop=sampling.stop,
        stop_token_ids=sampling.stop_token_ids,
        ignore_eos=sampling.ignore_eos,
        logprobs=sampling.logprobs,
        grammar=grammar,
    )
