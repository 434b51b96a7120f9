"""One candidate of an answer, or a piece of it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from headstart.dialects.deltas import Finish
from headstart.dialects.gathered import GatheredCall
from headstart.dialects.logprobs import TokenLogprob

REASONS: Mapping[str, str] = MappingProxyType(
    {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}
)
MALFORMED = "MALFORMED_FUNCTION_CALL"
FLOOR = -9999.0
"""For a token that can't happen; JSON has no minus infinity."""


def call_part(call: GatheredCall) -> dict[str, Any] | None:
    """A whole call; None if its arguments are no JSON object, as of one that was cut."""
    try:
        arguments = msgspec.json.decode(call.arguments)
    except msgspec.DecodeError:
        return None
    if not isinstance(arguments, dict):
        return None
    return {"functionCall": {"name": call.name, "args": arguments, "id": call.id}}


def candidate(
    index: int,
    parts: Sequence[Mapping[str, Any]],
    finish: Finish | None = None,
    logprobs: Sequence[TokenLogprob] | None = None,
    *,
    malformed: bool = False,
) -> dict[str, Any]:
    """The piece `parts`, which says nothing if there are none; with `finish` it was the last."""
    said: dict[str, Any] = {"content": {"parts": list(parts) or [{"text": ""}], "role": "model"}}
    if finish is not None:
        reason = REASONS[finish.reason]
        said["finishReason"] = MALFORMED if malformed and reason == "STOP" else reason
    said["index"] = index
    if logprobs:
        said["avgLogprobs"] = sum(max(each.logprob, FLOOR) for each in logprobs) / len(logprobs)
        said["logprobsResult"] = _logprobs(logprobs)
    return said


def _logprobs(tokens: Sequence[TokenLogprob]) -> dict[str, Any]:
    return {
        "chosenCandidates": [_token(token) for token in tokens],
        "topCandidates": [{"candidates": [_token(top) for top in token.top]} for token in tokens],
    }


def _token(token: TokenLogprob) -> dict[str, Any]:
    shown = token.data.decode(errors="replace")
    return {"token": shown, "logProbability": max(token.logprob, FLOOR)}
