"""A whole chat completion."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from headstart.dialects.openai.deltas import CallArguments, CallStart, Delta, Finish, TextDelta
from headstart.dialects.openai.logprobs import TokenLogprob, chat_logprobs
from headstart.dialects.openai.usage import Usage


@dataclass(slots=True)
class ChatChoice:
    """Gathers one choice's deltas into a message."""

    index: int
    with_logprobs: bool
    _text: list[str] = field(default_factory=list)
    _calls: list[dict[str, Any]] = field(default_factory=list)
    _logprobs: list[TokenLogprob] = field(default_factory=list)
    _reason: str = "stop"

    def add(self, deltas: Sequence[Delta], logprobs: Sequence[TokenLogprob] = ()) -> None:
        """Take the next piece of the choice."""
        self._logprobs.extend(logprobs)
        for delta in deltas:
            match delta:
                case TextDelta(text):
                    self._text.append(text)
                case CallStart(_, call_id, name):
                    function = {"name": name, "arguments": ""}
                    self._calls.append({"id": call_id, "type": "function", "function": function})
                case CallArguments(position, text):
                    self._calls[position]["function"]["arguments"] += text
                case Finish(reason):
                    self._reason = reason

    def render(self) -> dict[str, Any]:
        """One element of `choices`. Content is null where there are calls and no text."""
        text = "".join(self._text)
        message: dict[str, Any] = {
            "role": "assistant",
            "content": None if self._calls and not text else text,
            "refusal": None,
            "annotations": [],
        }
        if self._calls:
            message["tool_calls"] = self._calls
        return {
            "index": self.index,
            "message": message,
            "logprobs": chat_logprobs(self._logprobs) if self.with_logprobs else None,
            "finish_reason": self._reason,
        }


def chat_response(
    response_id: str, created: int, model: str, choices: Sequence[ChatChoice], usage: Usage
) -> dict[str, Any]:
    """The body of `POST /v1/chat/completions`. `created` is in seconds since the epoch."""
    return {
        "id": response_id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [choice.render() for choice in choices],
        "usage": usage.render(),
    }
