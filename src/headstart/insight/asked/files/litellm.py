"""LiteLLM's StandardLoggingPayload, as its callbacks and buckets keep it, one a line or a list.

Its `prompt_tokens` count what was cached in; the vendor's own usage is under
`metadata.usage_object` or in the response. What LiteLLM's own response cache answered
(`cache_hit`) never reached a vendor and is left out, as failures are. A team is a tenant.
Source: docs.litellm.ai/docs/proxy/logging_spec (2026-11).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.files.kind import Kind, Object, Objects
from headstart.insight.asked.files.recorded import beside
from headstart.insight.asked.formats.values import fields, number, text
from headstart.insight.asked.read import read as read_body
from headstart.insight.asked.read import without_body
from headstart.insight.asked.usage import account, find

WRAPPER = "standard_logging_object"


def claims(first: Sequence[Object]) -> bool:
    """By two fields that only it has."""
    return all("call_type" in _payload(each) and "startTime" in _payload(each) for each in first)


def read(objects: Objects, told: Signs) -> Iterator[Asked]:
    """Raises Unreadable."""
    for origin, value in objects:
        payload = _payload(fields(value))
        if payload.get("cache_hit") is True or payload.get("status") == "failure":
            continue
        yield _asked(payload, told, origin)


def _payload(record: Object) -> Object:
    kwargs = fields(record.get("kwargs"))
    return fields(record.get(WRAPPER)) or fields(kwargs.get(WRAPPER)) or record


def _asked(payload: Object, told: Signs, origin: Origin) -> Asked:
    model = text(payload.get("model"))
    signs = told.or_else(Signs(text(payload.get("custom_llm_provider")), model=model))
    metadata = fields(payload.get("metadata"))
    begun, first = number(payload.get("startTime")), number(payload.get("completionStartTime"))
    return beside(
        _body(payload, model, signs, origin),
        {
            "id": payload.get("id"),
            "time": begun,
            "tenant": text(metadata.get("user_api_key_team_alias"))
            or text(metadata.get("user_api_key_alias")),
            "session": text(payload.get("trace_id")),
            "route": text(payload.get("model_id")) or text(payload.get("api_base")),
            "usage": _usage(payload, metadata),
            "response": payload.get("response"),
            "ttft": first - begun if payload.get("stream") and first and begun else None,
        },
    )


def _usage(payload: Object, metadata: Mapping[str, Any]) -> Any:
    """The vendor's own where it was kept; else the payload's sums, which know no cache."""
    for usage in (metadata.get("usage_object"), find(payload.get("response"))):
        if account(usage) is not None:
            return usage
    return {name: payload.get(name) for name in ("prompt_tokens", "completion_tokens")}


def _body(payload: Object, model: str, signs: Signs, origin: Origin) -> Asked:
    """Without one where messages were redacted, or aren't what a vendor would take."""
    messages = payload.get("messages")
    if not isinstance(messages, list) or not messages:
        return without_body(model, signs, origin)
    body = {**fields(payload.get("model_parameters")), "model": model, "messages": messages}
    try:
        return read_body(body, signs, origin)
    except Unreadable:
        return without_body(model, signs, origin)


LITELLM = Kind("LiteLLM", claims, read)
