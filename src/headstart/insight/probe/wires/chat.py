"""OpenAI's Chat Completions, which most servers speak; DeepSeek counts hits and misses in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headstart.insight.probe.script import Prompt, Usage
from headstart.insight.probe.wires.base import Form, Heard, versioned
from headstart.insight.wire import DONE, parse_chunk


@dataclass(frozen=True, slots=True)
class ChatWire:
    """A chat with streamed usage."""

    vendor: str
    key_variables: Sequence[str]
    least_output: int = 1
    forms: Sequence[Form] = (
        Form(marks=True, limit="max_tokens"),
        Form(marks=True, limit="max_completion_tokens"),
        Form(marks=False, limit="max_tokens"),
        Form(marks=False, limit="max_completion_tokens"),
    )

    def headers(self, key: str | None) -> Mapping[str, str]:
        """A bearer token."""
        return {} if key is None else {"Authorization": f"Bearer {key}"}

    def models_url(self, url: str) -> str:
        """Below the base URL."""
        return f"{versioned(url)}/models"

    def url(self, url: str, _model: str) -> str:
        """Below the base URL."""
        return f"{versioned(url)}/chat/completions"

    def body(self, model: str, prompt: Prompt, output: int, form: Form) -> dict[str, Any]:
        """From GPT-5.6 on the end of a system message is kept for other questions if marked."""
        system: Any = prompt.first
        if form.marks:
            mark = {"mode": "explicit"}
            system = [{"type": "text", "text": prompt.first, "prompt_cache_breakpoint": mark}]
        return {
            "model": model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": prompt.last},
            ],
            form.limit: output,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def hear(self, payload: bytes) -> Heard:
        """`prompt_tokens` includes what was read and written. Not all servers say that they are
        done, so a chunk of usage that ends the choice, or has none, is the last one too."""
        if payload == DONE:
            return Heard(last=True)
        chunk = parse_chunk(payload)
        if chunk.usage is None:
            return Heard(chunk.shows_token)
        told = chunk.usage
        usage = Usage(
            told.prompt_tokens, told.cached_tokens, told.written_tokens, told.completion_tokens
        )
        last = all(choice.finish_reason for choice in chunk.choices)
        return Heard(chunk.shows_token, usage, last)
