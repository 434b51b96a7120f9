"""`POST /v1/completions`: from the body to what it asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from msgspec import Meta

from headstart.dialects.body import convert, decode_object, refuse
from headstart.dialects.cache_hints import NO_HINTS, CacheHints
from headstart.dialects.errors import invalid
from headstart.dialects.openai.response_format import ResponseFormat, to_schema
from headstart.dialects.openai.sampling import MAX_CHOICES, SamplingFields, TokenId
from headstart.dialects.sampling import Sampling

DEFAULT_MAX_TOKENS = 16
"""OpenAI's default for this endpoint."""

UNSUPPORTED: Mapping[str, str] = MappingProxyType(
    {
        "echo": "Put the prompt before the answer yourself.",
        "suffix": "This model can't fill in the middle.",
        "guided_json": "Use 'response_format' with type 'json_schema'.",
        "guided_regex": "Use 'response_format' with type 'json_schema'.",
        "guided_choice": "Use 'response_format' with type 'json_schema' and an enum.",
        "guided_grammar": "Use 'response_format' with type 'json_schema'.",
        "structured_outputs": "Use 'response_format' with type 'json_schema'.",
        "min_tokens": "Use 'ignore_eos' with 'max_tokens'.",
        "prompt_logprobs": "Only generated tokens have logprobs.",
        "prompt_embeds": "Send text or token ids.",
        "truncate_prompt_tokens": "Prompts are never cut: shorten the prompt.",
    }
)
"""Fields whose silent loss would change what the answer means, with the way out."""

Prompt = str | tuple[int, ...]
"""Text, or token ids."""


class CompletionFields(SamplingFields, kw_only=True):
    """The body's fields."""

    model: str
    prompt: str | list[str | TokenId | list[TokenId]]
    logprobs: Annotated[int, Meta(ge=0, le=5)] | None = None
    best_of: int | None = None
    response_format: ResponseFormat | None = None


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One text completion request, checked; it may hold several prompts."""

    model: str
    prompts: tuple[Prompt, ...]
    json_schema: str | None
    sampling: Sampling
    n: int
    stream: bool
    include_usage: bool
    cache_salt: str | None
    cache_hints: CacheHints


def parse_completion(body: bytes) -> CompletionRequest:
    """Read a text completion request. Raises ApiError 400 with the field's path."""
    raw = decode_object(body)
    refuse(raw, UNSUPPORTED)
    fields = convert(raw, CompletionFields)
    n = fields.n or 1
    if fields.best_of is not None and fields.best_of != n:
        raise invalid("'best_of' other than 'n' is not supported: use 'n'.", "best_of")
    prompts = _prompts(fields.prompt)
    if len(prompts) * n > MAX_CHOICES:
        message = f"{len(prompts)} prompts times n={n} is more than {MAX_CHOICES} choices."
        raise invalid(message, "prompt")
    return CompletionRequest(
        model=fields.model,
        prompts=prompts,
        json_schema=to_schema(fields.response_format),
        sampling=fields.sampling(
            max_tokens=fields.max_tokens or DEFAULT_MAX_TOKENS, logprobs=fields.logprobs
        ),
        n=n,
        stream=bool(fields.stream),
        include_usage=fields.include_usage(),
        cache_salt=fields.salt(),
        cache_hints=fields.cache_hints or NO_HINTS,
    )


def _prompts(prompt: str | list[str | int | list[int]]) -> tuple[Prompt, ...]:
    """Text, texts, token ids, or lists of token ids: a list holds one kind."""
    if isinstance(prompt, str):
        return (prompt,)
    if not prompt:
        raise invalid("'prompt' must not be empty.", "prompt", "invalid_value")
    ids = [item for item in prompt if isinstance(item, int)]
    if len(ids) == len(prompt):
        return (tuple(ids),)
    texts = [item for item in prompt if isinstance(item, str)]
    lists = [item for item in prompt if isinstance(item, list)]
    if len(texts) == len(prompt):
        return tuple(texts)
    if len(lists) == len(prompt):
        if [] in lists:
            field = f"prompt[{lists.index([])}]"
            raise invalid(f"'{field}' must not be empty.", field, "invalid_value")
        return tuple(tuple(item) for item in lists)
    message = "'prompt' has to be a text, a list of texts, a list of token ids or a list of those."
    raise invalid(message, "prompt", "invalid_value")
