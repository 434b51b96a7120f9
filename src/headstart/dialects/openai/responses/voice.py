"""`POST /v1/responses` as a dialect whose renderer is made for each request."""

from collections.abc import Sequence
from typing import Any, ClassVar

from headstart.dialects.dialect import Head
from headstart.dialects.gathered import Gathered
from headstart.dialects.openai.responses.output import Output
from headstart.dialects.openai.responses.response import Story
from headstart.dialects.openai.responses.stream import ResponseStream
from headstart.dialects.openai.responses.usage import response_usage
from headstart.ledger.account import Account

PREFIX = "resp_"


class ResponsesVoice:
    """What Responses call things."""

    name: ClassVar[str] = "openai.responses"
    vendor: ClassVar[str] = "engine"
    prompt_field: ClassVar[str] = "input"
    schema_field: ClassVar[str] = "text.format"

    def response_id(self, unique: str) -> str:
        """`resp_…`."""
        return f"{PREFIX}{unique}"

    def told(self, _: Head, account: Account) -> dict[str, Any]:
        """`usage`."""
        return {"usage": response_usage(account)}


class ResponseRenderer:
    """One response, whole or as a stream."""

    def __init__(self, story: Story) -> None:
        self._story = story

    def whole(self, _: Head, choices: Sequence[Gathered], account: Account) -> dict[str, Any]:
        """A `response`."""
        (choice,) = choices
        output = self._output()
        output.take(choice)
        return self._story.ended(output, account)

    def stream(self, _: Head) -> ResponseStream:
        """Its events."""
        return ResponseStream(self._story, self._output())

    def _output(self) -> Output:
        head = self._story.head
        unique = head.id.removeprefix(PREFIX)
        return Output(unique, prewarm=head.asked.sampling.max_tokens == 0)
