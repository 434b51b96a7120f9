"""`:generateContent` and `:streamGenerateContent` as a dialect."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from headstart.dialects.chat import ChatRequest
from headstart.dialects.dialect import Envelope, Head
from headstart.dialects.gathered import Gathered
from headstart.dialects.gemini import answer
from headstart.dialects.gemini.errors import GeminiManners
from headstart.dialects.gemini.frames import Events, Frames
from headstart.dialects.gemini.request import Find, GenerateFields, to_chat
from headstart.dialects.gemini.stream import GeminiStream
from headstart.dialects.gemini.usage import render_usage
from headstart.dialects.gemini.wire import read
from headstart.ledger.account import Account


@dataclass(frozen=True, slots=True)
class GeminiGenerate(GeminiManners):
    """One request's dialect: what it may find cached depends on who asks."""

    name: ClassVar[str] = "gemini.generate"
    vendor: ClassVar[str] = "gemini"
    prompt_field: ClassVar[str] = "contents"
    schema_field: ClassVar[str] = "generation_config.response_schema"

    find: Find
    streaming: bool = False
    frames: Callable[[], Frames] = Events

    def response_id(self, unique: str) -> str:
        """As it is."""
        return unique

    def told(self, _: Head, account: Account) -> dict[str, Any]:
        """`usageMetadata`."""
        return {"usageMetadata": render_usage(account)}

    def parse(self, body: bytes, envelope: Envelope) -> ChatRequest:
        """Raises ApiError 400 in Google's words, and the contract's Refusal."""
        fields = read(body, GenerateFields)
        return to_chat(fields, envelope.path["model"], self.find, stream=self.streaming)

    def whole(self, head: Head, choices: Sequence[Gathered], account: Account) -> dict[str, Any]:
        """A `GenerateContentResponse`."""
        return answer.whole(head, choices, account)

    def stream(self, head: Head) -> GeminiStream:
        """Many of them."""
        return GeminiStream(head, self.frames())
