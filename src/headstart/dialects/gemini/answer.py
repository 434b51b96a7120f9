"""`GenerateContentResponse`: a whole answer."""

from collections.abc import Sequence
from typing import Any

from headstart.dialects.deltas import Finish
from headstart.dialects.dialect import Head
from headstart.dialects.gathered import Gathered
from headstart.dialects.gemini.candidate import call_part, candidate
from headstart.dialects.gemini.usage import render_usage
from headstart.ledger.account import Account


def response(
    head: Head, candidates: Sequence[dict[str, Any]], account: Account | None = None
) -> dict[str, Any]:
    """The body, or a chunk of a stream; only the last chunk has the account."""
    body: dict[str, Any] = {"candidates": list(candidates)}
    if account is not None:
        body["usageMetadata"] = render_usage(account)
    return {**body, "modelVersion": head.asked.model, "responseId": head.id}


def whole(head: Head, choices: Sequence[Gathered], account: Account) -> dict[str, Any]:
    """All candidates, each with its text first and then its calls."""
    return response(head, [_candidate(choice) for choice in choices], account)


def _candidate(choice: Gathered) -> dict[str, Any]:
    calls = [call_part(call) for call in choice.calls]
    parts = [{"text": choice.text}] if choice.text else []
    parts += [call for call in calls if call is not None]
    finish = choice.finish or Finish("stop")
    return candidate(
        choice.index, parts, finish, choice.logprobs, malformed=any(c is None for c in calls)
    )
