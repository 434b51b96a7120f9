"""`POST /chat/completions` as DeepSeek serves it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from headstart.dialects.body import decode_object
from headstart.dialects.chat import ChatRequest
from headstart.dialects.deepseek.errors import DeepSeekManners
from headstart.dialects.dialect import Envelope, Head
from headstart.dialects.errors import invalid
from headstart.dialects.openai.chat import OpenAIChat
from headstart.dialects.openai.chat_request import read_chat
from headstart.dialects.openai.usage import RenderUsage, render_hits_and_misses


class DeepSeekChat(DeepSeekManners, OpenAIChat):
    """OpenAI's chat completions, with hits and misses."""

    name: ClassVar[str] = "deepseek.chat"
    vendor: ClassVar[str] = "deepseek"

    def parse(self, body: bytes, _: Envelope) -> ChatRequest:
        """Unknown fields are ignored here. Raises ApiError 400."""
        raw = decode_object(body)
        _refuse_thinking(raw.get("thinking"))
        return read_chat(raw, strict=False)

    def usage(self, _: Head) -> RenderUsage:
        """Whatever the model's contract."""
        return render_hits_and_misses


def _refuse_thinking(thinking: Any) -> None:
    if isinstance(thinking, Mapping) and thinking.get("type") == "enabled":
        message = "This model has no thinking mode: send 'thinking' with type 'disabled'."
        raise invalid(message, "thinking", "unsupported_parameter")
