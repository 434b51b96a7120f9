"""The bodies of `POST /v1/responses` and `/v1/responses/input_tokens`; a field not here is unknown.

What is only named to be refused is `object`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from msgspec import Meta, Struct

from headstart.dialects.openai.cache_options import CacheOptions
from headstart.dialects.openai.metadata import Metadata
from headstart.dialects.openai.sampling import DrawingFields

LEAST_OUTPUT_TOKENS = 16
"""OpenAI takes no smaller limit here."""

UNSUPPORTED: Mapping[str, str] = MappingProxyType(
    {
        "background": "Nothing runs here without a client: stream the response.",
        "background_options": "Nothing runs here without a client: stream the response.",
        "conversation": "Use 'previous_response_id'.",
        "prompt": "No prompts are stored here: send 'instructions' and 'input'.",
        "context_management": "Nothing is compacted here: shorten the input.",
        "moderation": "This server has no moderation.",
        "access_programs": "This server has none.",
        "image": "This model reads text only.",
        "personality": "Say it in 'instructions'.",
    }
)
"""Fields whose silent loss would change what the answer means, with the way out."""


class Reasoning(Struct, forbid_unknown_fields=True):
    """`reasoning`."""

    effort: str | None = None
    summary: str | None = None
    generate_summary: str | None = None
    context: str | None = None
    mode: str | None = None


class Text(Struct, forbid_unknown_fields=True):
    """`text`."""

    format: dict[str, Any] | None = None
    verbosity: str | None = None


class StreamOptions(Struct, forbid_unknown_fields=True):
    """`stream_options`. Deltas are never padded, so there is nothing to leave out."""

    include_obfuscation: bool | None = None


class ResponseCacheOptions(CacheOptions, forbid_unknown_fields=True):
    """`prompt_cache_options` as only Responses have them."""

    prewarm: bool | None = None
    comparison_response_id: str | None = None


class PromptFields(Struct, kw_only=True, forbid_unknown_fields=True):
    """What the prompt is made of: all there is to say where its tokens are counted."""

    model: str | None = None
    input: str | list[dict[str, Any]] | None = None
    instructions: str | None = None
    previous_response_id: str | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    reasoning: Reasoning | None = None
    text: Text | None = None
    truncation: str | None = None
    conversation: object = None
    personality: object = None


class CreateFields(DrawingFields, kw_only=True, forbid_unknown_fields=True):
    """A response to create: the fields of the prompt, and these."""

    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    metadata: Metadata | None = None
    include: list[str] | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: ResponseCacheOptions | None = None
    prompt_cache_retention: str | None = None
    safety_identifier: Annotated[str, Meta(max_length=128)] | None = None
    service_tier: str | None = None
    store: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    user: str | None = None
    background: object = None
    background_options: object = None
    prompt: object = None
    context_management: object = None
    moderation: object = None
    access_programs: object = None
    image: object = None


PROMPT = frozenset(PromptFields.__struct_fields__)
