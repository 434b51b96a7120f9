"""`generateContent`: from the body to what it asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from headstart.contracts.prompt import NO_WISHES, Wishes
from headstart.dialects.chat import ChatRequest
from headstart.dialects.errors import invalid
from headstart.dialects.gemini.config import (
    GenerationConfig,
    refuse_unable,
    to_answer_schema,
    to_sampling,
)
from headstart.dialects.gemini.content import Content
from headstart.dialects.gemini.functions import Tool, ToolConfig
from headstart.dialects.gemini.prompt import PromptFields, numbered, read_prompt

TOGETHER = (
    "CachedContent can not be used with GenerateContent request setting system_instruction, tools "
    "or tool_config.\n\nProposed fix: move those values to CachedContent from GenerateContent "
    "request."
)


class SafetySetting(Struct):
    """Accepted: nothing is filtered here."""

    category: str = ""
    threshold: str = ""
    method: str | None = None


class GenerateFields(Struct, kw_only=True):
    """The body's fields."""

    model: str | None = None
    contents: list[Content] | None = None
    system_instruction: Content | None = None
    tools: list[Tool] | None = None
    tool_config: ToolConfig | None = None
    safety_settings: list[SafetySetting] | None = None
    generation_config: GenerationConfig | None = None
    cached_content: str | None = None
    labels: dict[str, str] | None = None
    service_tier: Any = None
    store: bool | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A cached content that a request names."""

    prompt: PromptFields
    tokens: int
    """Of the rendered prompt, from its beginning."""


Find = Callable[[str, str], Found]
"""From (`cachedContents/…`, `models/…`) to what is cached. Raises the contract's Refusal."""


def to_chat(fields: GenerateFields, model: str, find: Find, *, stream: bool) -> ChatRequest:
    """What a body asks of `model`. Raises ApiError 400, and what `find` raises."""
    if not fields.contents:
        raise invalid("* GenerateContentRequest.contents: contents is not specified\n", "contents")
    config = fields.generation_config or GenerationConfig()
    refuse_unable(config, model)
    contents = numbered(fields.contents)
    if fields.cached_content:
        if fields.system_instruction or fields.tools or fields.tool_config:
            raise invalid(TOGETHER, "cached_content")
        found = find(fields.cached_content, f"models/{model}")
        asked = found.prompt.followed_by(contents)
        wishes = Wishes(content=fields.cached_content, content_tokens=found.tokens)
    else:
        tools = tuple(fields.tools or ())
        asked = PromptFields(fields.system_instruction, tools, fields.tool_config, contents)
        wishes = NO_WISHES
    prompt = read_prompt(asked, model)
    schema = to_answer_schema(config)
    if schema is not None and prompt.tool_choice.mode != "none":
        message = "Function calling with a response mime type: 'application/json' is unsupported"
        raise invalid(message, "generation_config.response_mime_type")
    return ChatRequest(
        model=model,
        conversation=prompt.conversation,
        tool_choice=prompt.tool_choice,
        sampling=to_sampling(config),
        json_schema=schema,
        n=config.candidate_count or 1,
        stream=stream,
        parts=prompt.parts,
        wishes=wishes,
    )
