"""`POST /v1/messages`: from the body to what it asks for."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

from headstart.contracts.prompt import Wishes
from headstart.dialects.anthropic.blocks import CacheControl, Message, TextBlock, to_mark
from headstart.dialects.anthropic.check import Strict, check, one_of, wrong
from headstart.dialects.anthropic.conversation import to_conversation
from headstart.dialects.anthropic.parts import to_parts
from headstart.dialects.anthropic.pieces import system_pieces
from headstart.dialects.anthropic.settings import Settings, ThinkingEnabled
from headstart.dialects.anthropic.threads import Thread
from headstart.dialects.anthropic.threads import refuse as refuse_thread
from headstart.dialects.anthropic.tools import (
    AnyOf,
    CustomTool,
    Named,
    check_kinds,
    is_parallel,
    to_choice,
    to_tools,
)
from headstart.dialects.anthropic.turns import to_turns
from headstart.dialects.anthropic.version import check_version, version_of
from headstart.dialects.body import decode_object
from headstart.dialects.chat import ChatRequest, Comparison
from headstart.dialects.dialect import Envelope
from headstart.dialects.sampling import Sampling

WORKSPACE = "anthropic-workspace-id"
TIERS = ("auto", "standard_only")

Share = Annotated[float, Meta(ge=0.0, le=1.0)]


class PromptFields(Settings, kw_only=True):
    """The fields that shape the prompt, and how its tokens are drawn."""

    model: str
    messages: list[Message]
    system: str | list[TextBlock] | None = None
    tools: list[CustomTool] | None = None
    cache_control: CacheControl | None = None
    user_profile_id: str | None = None
    temperature: Share | None = None
    top_p: Share | None = None
    top_k: Annotated[int, Meta(ge=0)] | None = None


class Metadata(Strict):
    """`metadata`: nothing here depends on it."""

    user_id: str | None = None


class Diagnostics(Strict):
    """`diagnostics`: the wish to be told why the cache was missed."""

    previous_message_id: str | None = None


class MessageFields(PromptFields, kw_only=True):
    """The body's fields."""

    max_tokens: Annotated[int, Meta(ge=0)]
    stream: bool | None = None
    stop_sequences: list[str] | None = None
    metadata: Metadata | None = None
    service_tier: str | None = None
    diagnostics: Diagnostics | None = None
    container: Any = None
    inference_geo: str | None = None
    thread: Thread | None = None


def parse_messages(body: bytes, envelope: Envelope) -> ChatRequest:
    """Read a request for a message. Raises ApiError 400 in Anthropic's words."""
    version = version_of(envelope)
    raw = decode_object(body)
    check_kinds(raw)
    fields = check(raw, MessageFields)
    check_version(version, raw, fields.messages)
    _refuse(fields)
    sampling = Sampling(
        max_tokens=fields.max_tokens,
        fitting=True,
        temperature=1.0 if fields.temperature is None else fields.temperature,
        top_p=1.0 if fields.top_p is None else fields.top_p,
        top_k=fields.top_k or 0,
        stop=_stops(fields.stop_sequences or ()),
    )
    told = fields.diagnostics
    comparison = None if told is None else Comparison(told.previous_message_id)
    return to_request(fields, envelope, sampling, stream=bool(fields.stream), comparison=comparison)


def parse_count(body: bytes, envelope: Envelope) -> ChatRequest:
    """Read a request for the number of tokens. Raises ApiError 400 in Anthropic's words."""
    version = version_of(envelope)
    raw = decode_object(body)
    check_kinds(raw)
    fields = check(raw, PromptFields)
    check_version(version, raw, fields.messages)
    return to_request(fields, envelope, Sampling(max_tokens=0))


def to_request(
    fields: PromptFields,
    envelope: Envelope,
    sampling: Sampling,
    *,
    stream: bool = False,
    comparison: Comparison | None = None,
) -> ChatRequest:
    """The canonical request. Raises ApiError 400."""
    fields.check()
    tools = to_tools(fields.tools or ())
    offered = tuple(tool for tool, _ in tools)
    choice = to_choice(fields.tool_choice, offered)
    schema = fields.json_schema
    if schema is not None and choice.mode == "required":
        problem = "can't be used with a tool_choice that forces a tool"
        raise wrong("output_config.format", problem)
    system, turns = system_pieces(fields.system), to_turns(fields.messages)
    return ChatRequest(
        model=fields.model,
        conversation=to_conversation(system, turns, offered),
        tool_choice=choice,
        sampling=sampling,
        parallel_tool_calls=is_parallel(fields.tool_choice),
        json_schema=schema,
        stream=stream,
        parts=to_parts(tools, system, turns),
        partition=envelope.headers.get(WORKSPACE, ""),
        settings=fields.spelled(),
        wishes=Wishes(automatic=to_mark(fields.cache_control, "")),
        comparison=comparison,
    )


def _refuse(fields: MessageFields) -> None:
    refuse_thread(fields.thread)
    one_of(fields.service_tier, TIERS, "service_tier")
    if fields.container is not None:
        raise wrong("container", "This server has no containers: leave it out")
    if fields.inference_geo is not None:
        raise wrong("inference_geo", "This server is where it is: leave it out")
    if fields.max_tokens == 0:
        _check_prewarm(fields)


def _check_prewarm(fields: MessageFields) -> None:
    """What a request that only fills the cache can't have (rule A15)."""
    asked = {
        "stream": fields.stream,
        "thinking.type.enabled": isinstance(fields.thinking, ThinkingEnabled),
        "output_config.format": fields.json_schema is not None,
        "tool_choice": isinstance(fields.tool_choice, AnyOf | Named),
    }
    for name, wanted in asked.items():
        if wanted:
            raise wrong("max_tokens", f"0 is not supported with this `{name}`")


def _stops(sequences: Sequence[str]) -> tuple[str, ...]:
    if not all(sequence.strip() for sequence in sequences):
        raise wrong("stop_sequences", "each stop sequence must contain non-whitespace")
    return tuple(sequences)
