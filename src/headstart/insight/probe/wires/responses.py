"""OpenAI's Responses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from headstart.insight.probe.script import Prompt, Usage
from headstart.insight.probe.wires.base import Form, Heard, foreign, versioned
from headstart.insight.wire import EndpointError, error_message


class _Details(msgspec.Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _Details | None = None


class _Response(msgspec.Struct):
    usage: _Usage | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")


class _Event(msgspec.Struct):
    type: str
    response: _Response | None = None
    message: str | None = None


ENDS = frozenset({"response.completed", "response.incomplete"})
FAILURES = frozenset({"error", "response.failed"})


@dataclass(frozen=True, slots=True)
class ResponsesWire:
    """A response with its usage in the last event; nothing is stored."""

    vendor: str = "openai"
    key_variables: Sequence[str] = ("OPENAI_API_KEY",)
    least_output: int = 16
    forms: Sequence[Form] = (Form(marks=True), Form(marks=False))

    def headers(self, key: str | None) -> Mapping[str, str]:
        """A bearer token."""
        return {} if key is None else {"Authorization": f"Bearer {key}"}

    def models_url(self, url: str) -> str:
        """Below the base URL."""
        return f"{versioned(url)}/models"

    def url(self, url: str, _model: str) -> str:
        """Below the base URL."""
        return f"{versioned(url)}/responses"

    def body(self, model: str, prompt: Prompt, output: int, form: Form) -> dict[str, Any]:
        """The prefix as a developer's message, whose end can be marked."""
        part: dict[str, Any] = {"type": "input_text", "text": prompt.first}
        if form.marks:
            part["prompt_cache_breakpoint"] = {"mode": "explicit"}
        return {
            "model": model,
            "input": [
                {"role": "developer", "content": [part]},
                {"role": "user", "content": prompt.last},
            ],
            "max_output_tokens": output,
            "store": False,
            "stream": True,
        }

    def hear(self, payload: bytes) -> Heard:
        """`input_tokens` includes what was read and written."""
        try:
            event = msgspec.json.decode(payload, type=_Event)
        except msgspec.MsgspecError as error:
            raise foreign(payload, error) from error
        if event.type in FAILURES:
            failed = b"" if event.response is None else bytes(event.response.error)
            told = event.message or error_message(b'{"error":' + failed + b"}")
            raise EndpointError(f"the stream ended in an error: {told}")
        ended = event.type in ENDS
        usage = None if event.response is None else event.response.usage
        token = ended or event.type.endswith(".delta")
        if not ended or usage is None:
            return Heard(token, last=ended)
        details = usage.input_tokens_details or _Details()
        return Heard(
            token,
            Usage(
                usage.input_tokens,
                details.cached_tokens,
                details.cache_write_tokens,
                usage.output_tokens,
            ),
            last=True,
        )
