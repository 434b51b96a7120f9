"""What a user of Anthropic's SDK sees of one server."""

from collections.abc import Sequence
from typing import Any

import anthropic
import pytest
from anthropic.types import Message, Usage
from tests.conformance.conftest import Served
from tests.conformance.served import Clock

OPUS = "claude-opus-5"
"""Its minimum is 512 tokens."""
SONNET = "claude-sonnet-5-5"
ALIASES = (("anthropic", OPUS), ("anthropic", SONNET))
OLD = "2023-06-01"
NEW = "2026-10-21"


def prose(seed: str, words: int = 150) -> str:
    """Some 600 tokens that nobody else says."""
    return " ".join(f"{seed}{number}" for number in range(words))


def text(said: str, ttl: str | None = None, *, mark: bool = False) -> dict[str, Any]:
    """A text block, with a marker if there is a `ttl` or a `mark`."""
    return {"type": "text", "text": said} | (marker(ttl) if mark or ttl else {})


def marker(ttl: str | None = None) -> dict[str, Any]:
    return {"cache_control": {"type": "ephemeral"} | ({"ttl": ttl} if ttl else {})}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def tool(name: str, description: str = "", ttl: str | None = None) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    made = {"name": name, "description": description, "input_schema": schema}
    return made | (marker(ttl) if ttl else {})


def counts(usage: Usage) -> tuple[int, int, int]:
    """Input, creation and read."""
    assert usage.cache_creation_input_tokens is not None
    assert usage.cache_read_input_tokens is not None
    return (
        usage.input_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    )


def written(usage: Usage) -> int:
    return counts(usage)[1]


def read(usage: Usage) -> int:
    return counts(usage)[2]


def by_lifetime(usage: Usage) -> tuple[int, int]:
    """5m and 1h."""
    assert usage.cache_creation is not None
    split = usage.cache_creation
    return split.ephemeral_5m_input_tokens, split.ephemeral_1h_input_tokens


def text_of(message: Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


class Side:
    """One client; every answer's usage is checked for what holds always."""

    def __init__(self, served: Served, key: str = "k", workspace: str | None = None) -> None:
        self.served = served
        headers = {} if workspace is None else {"anthropic-workspace-id": workspace}
        self.client: anthropic.Anthropic = served.live.anthropic(key, default_headers=headers)

    @property
    def clock(self) -> Clock:
        return self.served.clock

    def ask(self, *messages: Any, model: str = OPUS, max_tokens: int = 1, **fields: Any) -> Message:
        """A greedy answer. Strings are the user's messages."""
        return self.client.messages.create(
            model=model,
            max_tokens=max_tokens,
            messages=said(messages),
            extra_headers={"anthropic-version": OLD},
            extra_body={"temperature": 0},
            **fields,
        )

    def usage(self, *messages: Any, **fields: Any) -> Usage:
        usage = self.ask(*messages, **fields).usage
        assert sum(by_lifetime(usage)) == written(usage)  # Check 9.
        assert min(*counts(usage), *by_lifetime(usage)) >= 0
        return usage

    def refusal(self, *messages: Any, **fields: Any) -> str:
        """The text of a 400."""
        with pytest.raises(anthropic.BadRequestError) as caught:
            self.ask(*messages, **fields)
        assert caught.value.type == "invalid_request_error"
        assert caught.value.request_id
        return message_of(caught.value)


def message_of(error: anthropic.APIError) -> str:
    """What the server said, in every version of the SDK."""
    body: Any = error.body
    return str(body["error"]["message"])


def said(messages: Sequence[Any]) -> Any:
    return [user(text(each)) if isinstance(each, str) else each for each in messages]
