"""`POST /v1/chat/completions`: from the body to what it asks for."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import fields as fields_of

from headstart.dialects.body import convert, decode_object, refuse
from headstart.dialects.cache_hints import NO_HINTS
from headstart.dialects.chat import ChatRequest
from headstart.dialects.errors import invalid
from headstart.dialects.openai.cache_options import CacheOptions, to_wishes
from headstart.dialects.openai.messages import Messages, to_message
from headstart.dialects.openai.parts import to_parts
from headstart.dialects.openai.prompt_settings import check_settings, prompt_settings
from headstart.dialects.openai.response_format import ResponseFormat, to_schema
from headstart.dialects.openai.sampling import SamplingFields
from headstart.dialects.openai.tools import AnyTool, Choice, to_choice, to_tools
from headstart.text.chat import Conversation

UNSUPPORTED: Mapping[str, str] = MappingProxyType(
    {
        "functions": "Use 'tools'.",
        "function_call": "Use 'tool_choice'.",
        "audio": "This model writes text only.",
        "web_search_options": "This server has no web search: offer one as a tool.",
        "moderation": "This server has no moderation.",
        "chat_template": "The model's own chat template is used.",
        "chat_template_kwargs": "The model's own chat template is used as it is.",
        "continue_final_message": "Use /v1/completions to continue a text.",
        "guided_json": "Use 'response_format' with type 'json_schema'.",
        "guided_regex": "Use 'response_format' with type 'json_schema'.",
        "guided_choice": "Use 'response_format' with type 'json_schema' and an enum.",
        "guided_grammar": "Use 'response_format' with type 'json_schema'.",
        "structured_outputs": "Use 'response_format' with type 'json_schema'.",
        "min_tokens": "Use 'ignore_eos' with 'max_tokens'.",
        "prompt_logprobs": "Only generated tokens have logprobs.",
        "truncate_prompt_tokens": "Prompts are never cut: shorten the messages.",
    }
)
"""Fields whose silent loss would change what the answer means, with the way out."""


class ChatFields(SamplingFields, kw_only=True):
    """The body's fields."""

    model: str
    messages: Messages
    tools: list[AnyTool] | None = None
    tool_choice: Choice | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    max_completion_tokens: Annotated[int, Meta(ge=1)] | None = None
    modalities: list[str] | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: CacheOptions | None = None
    prompt_cache_retention: str | None = None
    reasoning_effort: str | None = None
    verbosity: str | None = None
    service_tier: str | None = None


WITHOUT_EFFECT = frozenset({"metadata", "prediction", "safety_identifier", "store", "user"})
"""OpenAI's other fields: they change nothing of the answer."""

KNOWN = frozenset(
    {*(field.encode_name for field in fields_of(ChatFields)), *UNSUPPORTED, *WITHOUT_EFFECT}
)


def parse_chat(body: bytes) -> ChatRequest:
    """Read a chat completion request. Raises ApiError 400 with the field's path."""
    return read_chat(decode_object(body))


def read_chat(raw: Mapping[str, Any], *, strict: bool = True) -> ChatRequest:
    """Read a chat completion request's fields. Raises ApiError 400 with the field's path.

    `strict`: an unknown field is refused, as OpenAI does; below the top level they are ignored,
    because clients send messages back with what other servers put into them.
    """
    if strict:
        _recognize(raw)
    refuse(raw, UNSUPPORTED)
    fields = convert(raw, ChatFields)
    check_settings(
        fields.reasoning_effort,
        fields.verbosity,
        fields.service_tier,
        paths=("reasoning_effort", "verbosity"),
    )
    if fields.modalities not in (None, [], ["text"]):
        raise invalid("'modalities' can only be ['text'] here.", "modalities")
    tools = to_tools(fields.tools or ())
    choice = to_choice(fields.tool_choice, tools)
    schema = to_schema(fields.response_format)
    if schema is not None and choice.mode == "required":
        message = "'response_format' and a forced 'tool_choice' can't both shape one answer."
        raise invalid(message, "response_format")
    messages = tuple(to_message(m, f"messages[{i}]") for i, m in enumerate(fields.messages))
    return ChatRequest(
        model=fields.model,
        conversation=Conversation(messages, tools),
        tool_choice=choice,
        parallel_tool_calls=fields.parallel_tool_calls is not False,
        json_schema=schema,
        sampling=fields.sampling(max_tokens=_max_tokens(fields), logprobs=_logprobs(fields)),
        n=fields.n or 1,
        stream=bool(fields.stream),
        include_usage=fields.include_usage(),
        cache_salt=fields.salt(),
        cache_hints=fields.cache_hints or NO_HINTS,
        parts=to_parts(fields.messages, tools),
        partition=fields.prompt_cache_key or "",
        settings=prompt_settings(
            parallel_tool_calls=fields.parallel_tool_calls,
            text_format=raw.get("response_format"),
            effort=fields.reasoning_effort,
            verbosity=fields.verbosity,
            service_tier=fields.service_tier,
        ),
        wishes=to_wishes(fields.prompt_cache_options, fields.prompt_cache_retention, ("30m",)),
    )


def _recognize(raw: Mapping[str, Any]) -> None:
    unknown = [name for name in raw if name not in KNOWN]
    if unknown:
        plural = "s" if len(unknown) > 1 else ""
        names = ", ".join(unknown)
        raise invalid(f"Unrecognized request argument{plural} supplied: {names}")


def _max_tokens(fields: ChatFields) -> int | None:
    old, new = fields.max_tokens, fields.max_completion_tokens
    if old is not None and new is not None and old != new:
        message = "'max_tokens' and 'max_completion_tokens' disagree: send only one of them."
        raise invalid(message, "max_tokens")
    return new if new is not None else old


def _logprobs(fields: ChatFields) -> int | None:
    if fields.top_logprobs is not None and not fields.logprobs:
        message = "'top_logprobs' is only allowed when 'logprobs' is enabled."
        raise invalid(message, "top_logprobs")
    return (fields.top_logprobs or 0) if fields.logprobs else None
