"""An explanation as plain values: what JSON is, and what the other forms are made from."""

from decimal import Decimal
from typing import Any

from headstart.insight.asked.asked import Asked
from headstart.insight.causes import ABOUT
from headstart.insight.explain.explanation import Explanation
from headstart.insight.explain.plain import Step
from headstart.insight.shown import Show
from headstart.ledger.money import text as dollars

SCHEMA_VERSION = 1
TOOL = "headstart explain"


def facts(found: Explanation, show: Show) -> dict[str, Any]:
    """Every field is always there; null where it is not known or doesn't apply."""
    about = None if found.verdict.cause is None else ABOUT[found.verdict.cause]
    told = found.told
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": TOOL,
        "request": _request(told.asked),
        "earlier": None if told.earlier is None else _request(told.earlier),
        "seconds_between": told.since,
        "outcome": found.verdict.outcome,
        "cause": None
        if about is None
        else {
            "name": found.verdict.cause,
            "code": about.code,
            "title": about.title,
            "why": about.why,
            "way_out": about.way_out,
        },
        "said": found.verdict.said or _became(found, show),
        "place": _place(found, show),
        "hits": _hits(found),
        "lost": {
            "tokens": found.verdict.lost,
            "how": found.counting.how,
            "dollars": _money(found.money.lost),
            "prompt_dollars": _money(found.money.paid),
            "prices": found.money.source,
            "as_of": found.money.day,
        },
        "counted": {"how": found.counting.how, "method": found.counting.method},
        "usage": _usage(told.asked),
        "diagnostics": _diagnostics(found),
        "walk": None if found.steps is None else [_step(step) for step in found.steps],
        "triage": None
        if found.triage is None
        else {
            "cache_changed_the_output": found.triage.answer,
            "because": found.triage.because,
            "looked_at": list(found.triage.looked_at),
        },
    }


def _request(asked: Asked) -> dict[str, Any]:
    return {
        "file": asked.origin.file,
        "number": asked.origin.number,
        "id": asked.id or None,
        "format": asked.format,
        "vendor": asked.vendor,
        "model": asked.model or None,
        "time": asked.time,
    }


def _place(found: Explanation, show: Show) -> dict[str, Any] | None:
    where = found.place
    if where is None:
        return None
    return {
        "segment": where.segment,
        "pointer": where.pointer,
        "message": where.message,
        "rendered_message": found.message,
        "pieces_kept": where.piece,
        "character": where.character,
        "token": found.plain.at,
        "block": found.block,
        "how": found.counting.how,
        "before": show(where.before),
        "after": show(where.after),
        "bytes": "equal" if where.bytes_equal else "differ",
        "canonical": "equal" if where.canonical_equal else "differ",
    }


def _became(found: Explanation, show: Show) -> str:
    where = found.place
    return "" if where is None else f"{show(where.before)} became {show(where.after)}"


def _hits(found: Explanation) -> dict[str, Any]:
    rehearsed, plain = found.told.rehearsed, found.plain
    return {
        "how": found.counting.how,
        "prompt_tokens": rehearsed.prompt.tokens,
        "contract": {
            "name": rehearsed.profile.contract,
            "minimum": rehearsed.profile.minimum,
            "read": rehearsed.account.read,
            "written": dict(rehearsed.account.written),
            "refused": None if rehearsed.refusal is None else str(rehearsed.refusal),
        },
        "plain": {
            "tokens": plain.cached,
            "reason": plain.reason,
            "namespace_fields": list(plain.fields),
            "block_size": plain.block_size,
            "blocks": plain.blocks,
            "aligned_tokens": plain.aligned,
            "odd_tokens": plain.odd,
        },
    }


def _usage(asked: Asked) -> dict[str, Any] | None:
    account = asked.account
    if account is None:
        return None
    return {
        "how": "measured",
        "prompt_tokens": account.prompt,
        "read": account.read,
        "written": dict(account.written),
        "output_tokens": account.output,
    }


def _diagnostics(found: Explanation) -> dict[str, Any] | None:
    told = found.diagnosed
    if told is None:
        return None
    diagnosis = told.found
    return {
        "field": told.field,
        "type": None if diagnosis is None else diagnosis.type,
        "reason": None if diagnosis is None else diagnosis.reason,
        "missed_tokens": None if diagnosis is None else diagnosis.missed,
        "reusable_tokens": None if diagnosis is None else diagnosis.reusable,
        "how": found.counting.how,
    }


def _step(step: Step) -> dict[str, Any]:
    return {"block": step.index, "key": step.key.hex(), "hit": step.hit, "same_tokens": step.same}


def _money(value: Decimal | None) -> str | None:
    return None if value is None else dollars(value)
