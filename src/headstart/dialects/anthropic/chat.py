"""`POST /v1/messages` as a dialect."""

from collections.abc import Sequence
from typing import Any, ClassVar

from headstart.dialects.anthropic.errors import AnthropicManners
from headstart.dialects.anthropic.ids import message_id
from headstart.dialects.anthropic.request import parse_messages
from headstart.dialects.anthropic.response import message_response
from headstart.dialects.anthropic.stream import MessageStream
from headstart.dialects.anthropic.usage import render_usage
from headstart.dialects.chat import ChatRequest
from headstart.dialects.dialect import Envelope, Head
from headstart.dialects.gathered import Gathered
from headstart.ledger.account import Account


class AnthropicMessages(AnthropicManners):
    """The Messages API, in its versions of 2023-06-01 and 2026-10-21."""

    name: ClassVar[str] = "anthropic.messages"
    vendor: ClassVar[str] = "anthropic"
    prompt_field: ClassVar[str] = "messages"
    schema_field: ClassVar[str] = "output_config.format"

    def response_id(self, unique: str) -> str:
        """`msg_…`."""
        return message_id(unique)

    def told(self, _: Head, account: Account) -> dict[str, Any]:
        """`usage`."""
        return {"usage": render_usage(account)}

    def parse(self, body: bytes, envelope: Envelope) -> ChatRequest:
        """Raises ApiError 400 in Anthropic's words."""
        return parse_messages(body, envelope)

    def whole(self, head: Head, choices: Sequence[Gathered], account: Account) -> dict[str, Any]:
        """A `message`."""
        return message_response(head, choices, account)

    def stream(self, head: Head) -> MessageStream:
        """`message_start` to `message_stop`."""
        return MessageStream(head)
