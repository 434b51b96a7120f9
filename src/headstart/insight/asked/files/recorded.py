"""Requests with what was known of them: our recorder's and request log's lines, OpenAI's batches.

An object with the body under `body` (beside some with one, others may have usage alone), and
beside it any of `url` or `path`, `headers`, `provider`, `vendor` or `contract`,
`model`, `time` or `timestamp` (seconds, or ISO 8601), `id`, `request_id` or `custom_id`, `tenant`,
`session`, `route`; and of the answer `response` (the whole, or its usage alone, or the events of a
stream), `usage`, `tokens` (the prompt's ids), `ttft` (seconds), `reason` (of its miss).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.files.kind import Kind, Object, Objects
from headstart.insight.asked.files.times import moment
from headstart.insight.asked.files.values import decoded
from headstart.insight.asked.formats.values import fields, named, number, text
from headstart.insight.asked.read import read_each, without_body
from headstart.insight.asked.usage import account, find


def claims(first: Sequence[Object]) -> bool:
    """Objects that carry a body; beside one that does, others may have usage alone."""
    asking = [each for each in first if _asks(each)]
    carrying = [isinstance(each.get("body"), dict | str) for each in asking]
    return (any(carrying) or not asking) and all(
        carries or "usage" in each or "response" in each
        for each, carries in zip(asking, carrying, strict=True)
    )


def read(objects: Objects, told: Signs) -> Iterator[Asked]:
    """Raises Unreadable."""
    for origin, record in objects:
        if not isinstance(record, dict):
            reason = f"a request is an object, this is {named(record)}"
            raise Unreadable(reason, origin.file, origin.number)
        if _asks(record):
            yield from _requests(record, told, origin)


def _asks(record: Object) -> bool:
    """Our log also has lines that only warm, and the further prompts of a request: no account."""
    return "request_log" not in record or "account" in record


def _requests(record: Object, told: Signs, origin: Origin) -> Iterator[Asked]:
    body = record.get("body")
    if isinstance(body, str):
        body = decoded(body, origin.file, origin.number, "body")
    response = record.get("response")
    signs = Signs(
        text(record.get("provider")) or text(record.get("vendor")) or text(record.get("contract")),
        text(record.get("url")) or text(record.get("path")),
        {name.lower(): text(value) for name, value in fields(record.get("headers")).items()},
        text(record.get("model")) or text(fields(response).get("model")),
    )
    signs = told.or_else(signs)
    if body is None and ("usage" in record or "response" in record):
        yield beside(without_body(signs.model, signs, origin), record)
        return
    several = list(read_each(body, signs, origin))
    for asked in several:
        yield beside(asked, record, alone=len(several) == 1)
    if len(several) > 1:
        # Their usage is one; nobody knows which prompt has how much of it.
        together = beside(without_body(several[0].model, signs, origin), record)
        if together.account is not None:
            yield replace(together, vendor=several[0].vendor)


def beside(asked: Asked, record: Mapping[str, Any], *, alone: bool = True) -> Asked:
    """With what stands beside its body; the answer's part only where it is the only prompt."""
    known = replace(
        asked,
        id=_first(record, "id", "request_id", "custom_id"),
        time=next(
            (
                told
                for name in ("time", "timestamp")
                if (told := moment(record.get(name))) is not None
            ),
            None,
        ),
        tenant=_first(record, "tenant"),
        session=_first(record, "session"),
        route=_first(record, "route"),
    )
    if not alone:
        return known
    response = record.get("response")
    usage = record.get("usage") or find(response)
    return replace(
        known,
        account=account(usage),
        response=record.get("response"),
        tokens=_ids(record.get("tokens")) or known.tokens,
        ttft=number(record.get("ttft")),
        reason=text(record.get("reason")),
        tier=text(fields(usage).get("service_tier")) or text(fields(response).get("service_tier")),
    )


def _first(record: Mapping[str, Any], *names: str) -> str:
    """The first of these that says something; a number is as good as a text."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return ""


def _ids(value: Any) -> Sequence[int] | None:
    if isinstance(value, list) and all(type(each) is int and each >= 0 for each in value):
        return value
    return None


RECORDED = Kind("recorded", claims, read)
