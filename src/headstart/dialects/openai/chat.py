"""`POST /v1/chat/completions` as a dialect."""

from collections.abc import Sequence
from typing import Any, ClassVar

from headstart.dialects.chat import ChatRequest
from headstart.dialects.dialect import Envelope, Head
from headstart.dialects.gathered import Gathered
from headstart.dialects.openai.chat_request import parse_chat
from headstart.dialects.openai.chat_response import chat_response
from headstart.dialects.openai.chat_stream import ChatStream
from headstart.dialects.openai.errors import OpenAIManners
from headstart.dialects.openai.organization import within
from headstart.dialects.openai.usage import RenderUsage, render_hits_and_misses, render_usage
from headstart.ledger.account import Account


class OpenAIChat(OpenAIManners):
    """Chat completions, OpenAI's and everybody's who speaks like it."""

    name: ClassVar[str] = "openai.chat"
    vendor: ClassVar[str] = "engine"
    prompt_field: ClassVar[str] = "messages"
    schema_field: ClassVar[str] = "response_format"

    def response_id(self, unique: str) -> str:
        """`chatcmpl-…`."""
        return f"chatcmpl-{unique}"

    def told(self, head: Head, account: Account) -> dict[str, Any]:
        """`usage`."""
        return {"usage": self.usage(head)(account)}

    def parse(self, body: bytes, envelope: Envelope) -> ChatRequest:
        """Raises ApiError 400 with the field's path."""
        return within(parse_chat(body), envelope)

    def whole(self, head: Head, choices: Sequence[Gathered], account: Account) -> dict[str, Any]:
        """A `chat.completion`."""
        return chat_response(head, choices, self.usage(head)(account))

    def stream(self, head: Head) -> ChatStream:
        """`chat.completion.chunk`s."""
        return ChatStream(head, self.usage(head))

    def usage(self, head: Head) -> RenderUsage:
        """DeepSeek's models tell hits and misses whoever asks."""
        return render_hits_and_misses if head.contract == "deepseek" else render_usage
