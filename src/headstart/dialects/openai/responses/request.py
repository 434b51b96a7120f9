"""`POST /v1/responses` and `/v1/responses/input_tokens`: from the body to what it asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from headstart.dialects.body import convert, decode_object, refuse, unknown_parameter
from headstart.dialects.cache_hints import NO_HINTS
from headstart.dialects.chat import ChatRequest
from headstart.dialects.errors import invalid
from headstart.dialects.openai.cache_options import LIFETIMES, to_wishes
from headstart.dialects.openai.prompt_settings import TIERS, prompt_settings
from headstart.dialects.openai.responses.echo import echo
from headstart.dialects.openai.responses.fields import (
    LEAST_OUTPUT_TOKENS,
    UNSUPPORTED,
    CreateFields,
    PromptFields,
)
from headstart.dialects.openai.responses.prompt import ResponsePrompt, read_prompt
from headstart.dialects.openai.responses.said import Find, Said, read_input
from headstart.dialects.openai.responses.turn import Past, Turn
from headstart.dialects.openai.values import choose
from headstart.dialects.sampling import Sampling

PROMPT = frozenset(PromptFields.__struct_fields__)
CREATE = frozenset(CreateFields.__struct_fields__)
LOGPROBS = "message.output_text.logprobs"
INCLUDABLE = (
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    LOGPROBS,
)
"""All but the last add to items that never come here."""


@dataclass(frozen=True, slots=True)
class AskedResponse:
    """A response to create, checked."""

    chat: ChatRequest
    said: Said
    """What the request adds to the turns before it."""
    before: int
    """The messages of those turns."""
    echo: Mapping[str, Any]
    """What every form of the response repeats of the request."""
    previous: str | None
    store: bool
    comparison: str | None
    """The response whose prompt this one's is compared with."""

    def turn(self, response: Mapping[str, Any], find: Find) -> Turn:
        """The request and its answer, for others to go on from."""
        output = response["output"]
        first = self.before + len(self.said.messages)
        answered = read_input(output, first=first, ids="", find=find)
        return Turn(
            id=response["id"],
            previous=self.previous,
            said=Said(
                self.said.messages + answered.messages,
                self.said.parts + answered.parts,
                self.said.items,
            ),
            output=output,
            body=msgspec.json.encode(response),
        )


def parse_create(body: bytes, past: Past, unique: str) -> AskedResponse:
    """Read a response to create. `unique`: what ids are made from.

    Raises ApiError 400 with the field's path, 404 for an item that isn't stored.
    """
    raw = decode_object(body)
    refuse(raw, UNSUPPORTED)
    for name in raw:
        if name not in PROMPT and name not in CREATE:
            raise unknown_parameter(name)
    fields = convert({name: raw[name] for name in raw if name in CREATE}, CreateFields)
    _check(fields)
    prompt = read_prompt({name: raw[name] for name in raw if name in PROMPT}, past, unique)
    options = fields.prompt_cache_options
    return AskedResponse(
        chat=_chat(prompt, fields),
        said=prompt.said,
        before=prompt.before,
        echo=echo(prompt.fields, fields, prompt.tools),
        previous=prompt.fields.previous_response_id,
        store=fields.store is not False,
        comparison=None if options is None else options.comparison_response_id,
    )


def parse_count(body: bytes, past: Past, model: str) -> ChatRequest:
    """Read a prompt whose tokens are to be counted; `model` where it names none.

    Raises ApiError 400 and 404.
    """
    raw = decode_object(body)
    refuse(raw, UNSUPPORTED)
    named = raw if raw.get("model") is not None else {**raw, "model": model}
    return _chat(read_prompt(named, past, ""), CreateFields())


def _chat(prompt: ResponsePrompt, fields: CreateFields) -> ChatRequest:
    asked = prompt.fields
    options = fields.prompt_cache_options
    return ChatRequest(
        model=prompt.model,
        conversation=prompt.conversation,
        tool_choice=prompt.choice,
        parallel_tool_calls=asked.parallel_tool_calls is not False,
        json_schema=prompt.schema,
        sampling=_sampling(fields, calls=prompt.choice.mode != "none"),
        stream=bool(fields.stream),
        cache_salt=fields.salt(),
        cache_hints=fields.cache_hints or NO_HINTS,
        parts=prompt.parts,
        partition=fields.prompt_cache_key or "",
        settings=prompt_settings(
            parallel_tool_calls=asked.parallel_tool_calls,
            text_format=asked.text.format if asked.text else None,
            effort=asked.reasoning.effort if asked.reasoning else None,
            verbosity=asked.text.verbosity if asked.text else None,
            service_tier=fields.service_tier,
        ),
        wishes=to_wishes(options, fields.prompt_cache_retention, LIFETIMES),
    )


def _sampling(fields: CreateFields, *, calls: bool) -> Sampling:
    """With `prewarm` nothing is generated (rule O16).

    Where calls may come, tokens can't be told apart into text and calls: there are no logprobs.
    """
    options = fields.prompt_cache_options
    prewarm = options is not None and options.prewarm
    wanted = LOGPROBS in (fields.include or ()) and not calls
    logprobs = fields.top_logprobs or 0 if wanted else None
    return fields.drawing(max_tokens=0 if prewarm else fields.max_output_tokens, logprobs=logprobs)


def _check(fields: CreateFields) -> None:
    least, asked = LEAST_OUTPUT_TOKENS, fields.max_output_tokens
    if asked is not None and asked < least:
        message = (
            "Invalid 'max_output_tokens': integer below minimum value. "
            f"Expected a value >= {least}, but got {asked} instead."
        )
        raise invalid(message, "max_output_tokens", "integer_below_min_value")
    for index, name in enumerate(fields.include or ()):
        choose(name, INCLUDABLE, f"include[{index}]")
    choose(fields.service_tier, TIERS, "service_tier")
    if fields.stream_options is not None and not fields.stream:
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise invalid(message, "stream_options")
