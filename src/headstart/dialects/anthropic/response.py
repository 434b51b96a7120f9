"""A whole message."""

from collections.abc import Iterator, Sequence
from typing import Any

from headstart.dialects.anthropic.conversation import CALL_PREFIX
from headstart.dialects.anthropic.cut_input import whole_input
from headstart.dialects.anthropic.usage import render_usage
from headstart.dialects.deltas import Finish
from headstart.dialects.dialect import Head
from headstart.dialects.gathered import Gathered, GatheredCall, GatheredText
from headstart.ledger.account import Account


def message_response(head: Head, choices: Sequence[Gathered], account: Account) -> dict[str, Any]:
    """The body of `POST /v1/messages`."""
    (choice,) = choices
    body = open_message(head, account)
    body["content"] = list(_content(choice))
    if choice.finish is not None:
        body |= ended(head, choice.finish, account)
    return body


def open_message(head: Head, account: Account) -> dict[str, Any]:
    """A message before its first block."""
    return {
        "id": head.id,
        "type": "message",
        "role": "assistant",
        "model": head.asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "diagnostics": _diagnostics(head),
        "usage": render_usage(account),
    }


def ended(head: Head, finish: Finish, account: Account) -> dict[str, Any]:
    """Why the message ended. One that fills the context before `max_tokens` says so."""
    wanted = head.asked.sampling.max_tokens
    match finish.reason:
        case "tool_calls":
            reason = "tool_use"
        case "length" if wanted is not None and account.output < wanted:
            reason = "model_context_window_exceeded"
        case "length":
            reason = "max_tokens"
        case _:
            reason = "end_turn" if finish.stop is None else "stop_sequence"
    return {"stop_reason": reason, "stop_sequence": finish.stop}


def _content(choice: Gathered) -> Iterator[dict[str, Any]]:
    """Text and calls in the order they came in."""
    for block in choice.blocks:
        match block:
            case GatheredText():
                yield {"type": "text", "text": block.text}
            case GatheredCall():
                yield {
                    "type": "tool_use",
                    "id": f"{CALL_PREFIX}{block.id}",
                    "name": block.name,
                    "input": whole_input(block.arguments),
                }


def _diagnostics(head: Head) -> dict[str, Any] | None:
    """Null if nobody asked, or nothing diverged."""
    found = head.diagnosis
    if found is None:
        return None
    reason: dict[str, Any] = {"type": found.type}
    if found.missed is not None:
        reason["cache_missed_input_tokens"] = found.missed
    return {"cache_miss_reason": reason}
