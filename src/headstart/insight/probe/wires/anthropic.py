"""Anthropic's Messages. Nothing is cached there unless it is marked, so the prefix is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from headstart.insight.probe.script import NOTHING_TOLD, Prompt, Usage
from headstart.insight.probe.wires.base import Form, Heard, bare, foreign
from headstart.insight.wire import EndpointError, error_message

VERSION = "2023-06-01"


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Message(msgspec.Struct):
    usage: _Usage | None = None


class _Event(msgspec.Struct):
    type: str
    message: _Message | None = None
    usage: _Usage | None = None


@dataclass(frozen=True, slots=True)
class AnthropicWire:
    """A message with a marked system block."""

    vendor: str = "anthropic"
    key_variables: Sequence[str] = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    least_output: int = 1
    forms: Sequence[Form] = (Form(marks=True),)

    def headers(self, key: str | None) -> Mapping[str, str]:
        """The key as all versions of the API take it."""
        version = {"anthropic-version": VERSION}
        return version if key is None else version | {"x-api-key": key}

    def models_url(self, url: str) -> str:
        """Under the host."""
        return f"{bare(url)}/v1/models"

    def url(self, url: str, _model: str) -> str:
        """Under the host."""
        return f"{bare(url)}/v1/messages"

    def body(self, model: str, prompt: Prompt, output: int, form: Form) -> dict[str, Any]:
        """The mark has the default lifetime."""
        block: dict[str, Any] = {"type": "text", "text": prompt.first}
        if form.marks:
            block["cache_control"] = {"type": "ephemeral"}
        return {
            "model": model,
            "max_tokens": output,
            "system": [block],
            "messages": [{"role": "user", "content": prompt.last}],
            "stream": True,
        }

    def hear(self, payload: bytes) -> Heard:
        """`input_tokens` lacks what was read and written: the prompt is the sum of the three."""
        try:
            event = msgspec.json.decode(payload, type=_Event)
        except msgspec.MsgspecError as error:
            raise foreign(payload, error) from error
        if event.type == "error":
            raise EndpointError(f"the stream ended in an error: {error_message(payload)}")
        token = event.type in ("content_block_delta", "message_delta")
        told = event.usage if event.message is None else event.message.usage
        usage = NOTHING_TOLD if told is None else _usage(told)
        return Heard(token, usage, event.type == "message_stop")


def _usage(told: _Usage) -> Usage:
    read, written = told.cache_read_input_tokens, told.cache_creation_input_tokens
    fresh = told.input_tokens
    whole = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(whole, read, written, told.output_tokens)
