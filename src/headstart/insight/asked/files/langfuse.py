"""Langfuse's exports: observations one a line, a list of them, a page of its API, or traces.

Usage types are meant to be disjoint (`input` leaves out what is cached), but several integrations
count cached tokens into `input` too (langfuse/langfuse #10592, #12306). The total tells: where
input and output alone make it, `input` was all. Of two names for one thing, one is counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.files.kind import Kind, Object, Objects
from headstart.insight.asked.files.recorded import beside
from headstart.insight.asked.files.values import decoded
from headstart.insight.asked.formats.values import fields, text
from headstart.insight.asked.read import read as read_body
from headstart.insight.asked.read import without_body
from headstart.insight.asked.usage import LONG, SHORT, first
from headstart.ledger.account import Account

INPUT = ("input", "input_tokens", "prompt_tokens", "promptTokens")
OUTPUT = ("output", "output_tokens", "completion_tokens", "completionTokens")
TOTAL = ("total", "total_tokens", "totalTokens")
READ = (
    "cache_read_input_tokens",
    "input_cached_tokens",
    "input_cache_read",
    "input_cache_read_tokens",
    "cache_read_tokens",
    "prompt_details.cache_read",
    "cached_tokens",
)
WRITTEN = (
    "cache_creation_input_tokens",
    "input_cache_creation",
    "input_cache_creation_tokens",
    "cache_write_tokens",
    "prompt_details.cache_write",
)
WRITTEN_LONG = ("input_ephemeral_1h_input_tokens", "ephemeral_1h_input_tokens")
WRITTEN_SHORT = ("input_ephemeral_5m_input_tokens", "ephemeral_5m_input_tokens")
CALLS = ("GENERATION",)
"""The observations that are a call of a model: their parents may repeat the sums."""


def claims(first: Sequence[Object]) -> bool:
    """Observations, pages of them, or traces that hold some."""
    return all(_is_observation(each) or bool(_inner(each)) for each in first)


def read(objects: Objects, told: Signs) -> Iterator[Asked]:
    """Every call of a model."""
    for origin, value in objects:
        held = fields(value)
        inner = _inner(held)
        session = _first(held, "sessionId", "session_id")
        for number, each in enumerate(inner or [held], 1):
            if text(each.get("type")).upper() in CALLS:
                place = Origin(origin.file, number) if inner else origin
                yield _asked(each, session, told, place)


def _is_observation(each: Object) -> bool:
    known = "traceId" in each or "trace_id" in each
    return known and text(each.get("type")).isupper()


def _inner(held: Object) -> list[Object]:
    for name in ("observations", "data"):
        listed = held.get(name)
        if isinstance(listed, list) and all(_is_observation(fields(each)) for each in listed):
            return [fields(each) for each in listed]
    return []


def _asked(each: Object, session: str, told: Signs, origin: Origin) -> Asked:
    model = _first(each, "model", "providedModelName", "provided_model_name")
    signs = told.or_else(Signs(model=model))
    asked = beside(
        _body(each, model, signs, origin),
        {
            "id": each.get("id"),
            "time": _first(each, "startTime", "start_time"),
            "session": _first(each, "sessionId", "session_id")
            or session
            or _first(each, "traceId", "trace_id"),
        },
    )
    details = fields(each.get("usageDetails")) or fields(each.get("usage_details"))
    return replace(asked, account=to_account(details or fields(each.get("usage"))))


def to_account(usage: Mapping[str, Any]) -> Account | None:
    """What was asked, read and written, whether `input` has all of it or only the rest."""
    told = first(usage, *INPUT)
    if told is None:
        return None
    output, read = first(usage, *OUTPUT) or 0, first(usage, *READ) or 0
    long, short = first(usage, *WRITTEN_LONG) or 0, first(usage, *WRITTEN_SHORT) or 0
    short = max(short, (first(usage, *WRITTEN) or 0) - long)
    cached = read + short + long
    total = first(usage, *TOTAL)
    whole = cached <= told and total is not None and total == told + output
    written = {name: tokens for name, tokens in ((SHORT, short), (LONG, long)) if tokens}
    return Account(told if whole else told + cached, read, output, written)


def _body(each: Object, model: str, signs: Signs, origin: Origin) -> Asked:
    """Without one where `input` is nothing that a vendor would take."""
    asked = each.get("input")
    if isinstance(asked, str) and asked.lstrip()[:1] in ("{", "["):
        try:
            asked = decoded(asked, origin.file, origin.number)
        except Unreadable:
            asked = None
    settings = fields(each.get("modelParameters")) or fields(each.get("model_parameters"))
    body = {"messages": asked} if isinstance(asked, list) else fields(asked)
    if not any(name in body for name in ("messages", "contents", "input", "prompt")):
        return without_body(model, signs, origin)
    try:
        return read_body({**settings, "model": model, **body}, signs, origin)
    except Unreadable:
        return without_body(model, signs, origin)


def _first(held: Object, *names: str) -> str:
    return next((said for name in names if (said := text(held.get(name)))), "")


LANGFUSE = Kind("Langfuse", claims, read)
