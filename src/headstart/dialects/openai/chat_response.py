"""A whole chat completion."""

from collections.abc import Sequence
from typing import Any

from headstart.dialects.dialect import Head
from headstart.dialects.gathered import Gathered
from headstart.dialects.openai.logprobs import chat_logprobs
from headstart.dialects.openai.prompt_settings import TIER


def chat_response(head: Head, choices: Sequence[Gathered], usage: dict[str, Any]) -> dict[str, Any]:
    """The body of `POST /v1/chat/completions`."""
    with_logprobs = head.asked.sampling.logprobs is not None
    return {
        "id": head.id,
        "object": "chat.completion",
        "created": int(head.created),
        "model": head.asked.model,
        "choices": [_choice(choice, with_logprobs) for choice in choices],
        "usage": usage,
        "service_tier": TIER,
        "system_fingerprint": None,
    }


def _choice(choice: Gathered, with_logprobs: bool) -> dict[str, Any]:
    """One element of `choices`. Content is null where there are calls and no text."""
    text = choice.text
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if choice.calls and not text else text,
        "refusal": None,
        "annotations": [],
    }
    if choice.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in choice.calls
        ]
    return {
        "index": choice.index,
        "message": message,
        "logprobs": chat_logprobs(choice.logprobs) if with_logprobs else None,
        "finish_reason": choice.finish.reason if choice.finish else "stop",
    }
