"""Gemini's streamGenerateContent. Its implicit cache needs no mark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from headstart.insight.probe.script import Prompt, Usage
from headstart.insight.probe.wires.base import Form, Heard, bare, foreign
from headstart.insight.wire import EndpointError, error_message


class _Usage(msgspec.Struct, rename="camel"):
    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


class _Candidate(msgspec.Struct, rename="camel"):
    content: msgspec.Raw = msgspec.Raw(b"null")
    finish_reason: str | None = None


class _Chunk(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] = []
    usage_metadata: _Usage | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")


@dataclass(frozen=True, slots=True)
class GeminiWire:
    """A generation as a stream of events."""

    vendor: str = "gemini"
    key_variables: Sequence[str] = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
    least_output: int = 1
    forms: Sequence[Form] = (Form(),)

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Google's own header."""
        return {} if key is None else {"x-goog-api-key": key}

    def models_url(self, url: str) -> str:
        """Under the host; under `/v1` other vendors have theirs."""
        return f"{bare(url)}/v1beta/models"

    def url(self, url: str, model: str) -> str:
        """Under the host."""
        name = model.removeprefix("models/")
        return f"{bare(url)}/v1beta/models/{name}:streamGenerateContent?alt=sse"

    def body(self, _model: str, prompt: Prompt, output: int, _form: Form) -> dict[str, Any]:
        """The prefix as the system's instruction."""
        return {
            "systemInstruction": {"parts": [{"text": prompt.first}]},
            "contents": [{"role": "user", "parts": [{"text": prompt.last}]}],
            "generationConfig": {"maxOutputTokens": output},
        }

    def hear(self, payload: bytes) -> Heard:
        """A miss has no word of the cache, so with usage that lacks it nothing was read."""
        try:
            chunk = msgspec.json.decode(payload, type=_Chunk)
        except msgspec.MsgspecError as error:
            raise foreign(payload, error) from error
        if bytes(chunk.error) != b"null":
            raise EndpointError(f"the stream ended in an error: {error_message(payload)}")
        token = any(
            bytes(each.content) != b"null" or each.finish_reason for each in chunk.candidates
        )
        last = any(each.finish_reason for each in chunk.candidates)
        told = chunk.usage_metadata
        if told is None or told.prompt_token_count is None:
            return Heard(token, last=last)
        output = (told.candidates_token_count or 0) + (told.thoughts_token_count or 0)
        return Heard(
            token,
            Usage(told.prompt_token_count, told.cached_content_token_count or 0, None, output),
            last,
        )
