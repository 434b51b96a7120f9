"""What a response repeats of its request, defaults filled in."""

from collections.abc import Iterable
from typing import Any

from headstart.dialects.openai.cache_options import LIFETIMES, MODES
from headstart.dialects.openai.responses.fields import (
    CreateFields,
    PromptFields,
    ResponseCacheOptions,
)
from headstart.dialects.openai.responses.tools import FunctionTool


def echo(
    prompt: PromptFields, create: CreateFields, tools: Iterable[FunctionTool]
) -> dict[str, Any]:
    """The same in every form of the response, streamed or not."""
    reasoning, text = prompt.reasoning, prompt.text
    told: dict[str, Any] = {
        "instructions": prompt.instructions,
        "max_output_tokens": create.max_output_tokens,
        "max_tool_calls": create.max_tool_calls,
        "metadata": create.metadata or {},
        "parallel_tool_calls": prompt.parallel_tool_calls is not False,
        "previous_response_id": prompt.previous_response_id,
        "prompt_cache_key": create.prompt_cache_key,
        "prompt_cache_retention": create.prompt_cache_retention,
        "reasoning": {
            "effort": reasoning.effort if reasoning else None,
            "summary": reasoning.summary if reasoning else None,
        },
        "safety_identifier": create.safety_identifier,
        "store": create.store is not False,
        "temperature": 1.0 if create.temperature is None else create.temperature,
        "text": {
            "format": (text.format if text else None) or {"type": "text"},
            "verbosity": (text.verbosity if text else None) or "medium",
        },
        "tool_choice": "auto" if prompt.tool_choice is None else prompt.tool_choice,
        "tools": [tool.echo() for tool in tools],
        "top_logprobs": create.top_logprobs or 0,
        "top_p": 1.0 if create.top_p is None else create.top_p,
        "truncation": "disabled",
        "user": create.user,
    }
    if create.prompt_cache_options is not None:
        told["prompt_cache_options"] = _cache_options(create.prompt_cache_options)
    return told


def _cache_options(options: ResponseCacheOptions) -> dict[str, Any]:
    told = {"mode": options.mode or MODES[0], "ttl": options.ttl or LIFETIMES[0]}
    if options.comparison_response_id is not None:
        told["comparison_response_id"] = options.comparison_response_id
    return told
