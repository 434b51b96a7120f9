"""OpenTelemetry's spans as OTLP JSON, `gen_ai.*` of now and before: input includes what was cached.

Only spans of a model's answers count: an agent's span repeats the sums of its children, and so does
a span that has another such span below it in the same export.
Source: opentelemetry.io/docs/specs/semconv/gen-ai (in development, 2026-11).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.files.kind import Kind, Object, Objects
from headstart.insight.asked.formats.values import fields, text
from headstart.insight.asked.read import without_body
from headstart.insight.asked.usage import account

ANSWERS = ("", "chat", "text_completion", "generate_content")
"""Of `gen_ai.operation.name`: calls of a model."""
NANO = 1e9
SYNONYMS = {
    "gen_ai.usage.cache_read_tokens": "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.input_tokens.cached": "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_write_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.input_tokens.cache_write": "gen_ai.usage.cache_creation.input_tokens",
    "llm.token_count.prompt": "gen_ai.usage.input_tokens",
    "llm.token_count.completion": "gen_ai.usage.output_tokens",
    "llm.token_count.prompt_details.cache_read": "gen_ai.usage.cache_read.input_tokens",
    "llm.token_count.prompt_details.cache_write": "gen_ai.usage.cache_creation.input_tokens",
    "llm.model_name": "gen_ai.response.model",
    "llm.provider": "gen_ai.provider.name",
    "session.id": "gen_ai.conversation.id",
}
"""What instrumentations write instead, OpenInference too; the convention's own goes first."""


@dataclass(frozen=True, slots=True)
class _Span:
    id: str
    parent: str
    trace: str
    begun: float | None
    attributes: Mapping[str, Any]
    resource: Mapping[str, Any]


def claims(first: Sequence[Object]) -> bool:
    """Exports of traces."""
    return all(isinstance(each.get("resourceSpans"), list) for each in first)


def read(objects: Objects, told: Signs) -> Iterator[Asked]:
    """Every call of a model."""
    for origin, value in objects:
        spans = list(_spans(fields(value)))
        parents = {span.id: span.parent for span in spans}
        calls = [span for span in spans if _counts(span.attributes)]
        above = {up for span in calls for up in _above(span.id, parents)}
        for span in calls:
            if span.id not in above:
                yield _asked(span, told, origin)


def _counts(attributes: Mapping[str, Any]) -> bool:
    operation = text(attributes.get("gen_ai.operation.name"))
    return operation in ANSWERS and account(attributes) is not None


def _above(id: str, parents: Mapping[str, str]) -> Iterator[str]:
    """The ids of all spans that a span is in."""
    seen = {id}
    while (id := parents.get(id, "")) and id not in seen:
        seen.add(id)
        yield id


def _asked(span: _Span, told: Signs, origin: Origin) -> Asked:
    named = span.attributes
    model = text(named.get("gen_ai.response.model")) or text(named.get("gen_ai.request.model"))
    provider = text(named.get("gen_ai.provider.name")) or text(named.get("gen_ai.system"))
    asked = without_body(model, told.or_else(Signs(provider, model=model)), origin)
    return replace(
        asked,
        id=span.id,
        time=span.begun,
        session=text(named.get("gen_ai.conversation.id")) or span.trace,
        route=text(named.get("server.address")) or text(span.resource.get("service.name")),
        account=account(named),
        tier=text(named.get("openai.response.service_tier")),
    )


def _spans(export: Object) -> Iterator[_Span]:
    for resource in _list(export.get("resourceSpans")):
        about = _attributes(fields(resource.get("resource")).get("attributes"))
        for scope in _list(resource.get("scopeSpans")):
            for span in _list(scope.get("spans")):
                yield _Span(
                    text(span.get("spanId")),
                    text(span.get("parentSpanId")),
                    text(span.get("traceId")),
                    _seconds(span.get("startTimeUnixNano")),
                    _known(_attributes(span.get("attributes"))),
                    about,
                )


def _known(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    others = {SYNONYMS[name]: value for name, value in attributes.items() if name in SYNONYMS}
    return {**others, **attributes}


def _attributes(listed: Any) -> dict[str, Any]:
    return {text(each.get("key")): _value(fields(each.get("value"))) for each in _list(listed)}


def _value(value: Mapping[str, Any]) -> Any:
    """Of protobuf's JSON, in which whole numbers are texts."""
    whole = value.get("intValue")
    if isinstance(whole, str):
        return int(whole) if whole.lstrip("-").isdigit() else None
    return next(iter(value.values()), None)


def _seconds(nanoseconds: Any) -> float | None:
    told = str(nanoseconds)
    return int(told) / NANO if told.isdigit() else None


def _list(value: Any) -> list[Mapping[str, Any]]:
    return [fields(each) for each in value] if isinstance(value, list) else []


OTLP = Kind("OTLP", claims, read)
