"""Answers and nothing beside them: a vendor's response bodies, or records that kept usage alone."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.files.kind import Kind, Object, Objects
from headstart.insight.asked.files.recorded import beside
from headstart.insight.asked.formats.values import fields, number, text
from headstart.insight.asked.read import without_body
from headstart.insight.asked.usage import account, find


def claims(first: Sequence[Object]) -> bool:
    """Objects with usage that can be counted; a request never has any."""
    return all(account(find(each)) is not None for each in first)


def read(objects: Objects, told: Signs) -> Iterator[Asked]:
    """Errors, which have no usage, are passed over. Raises Unreadable for anything else."""
    for origin, value in objects:
        record = fields(value)
        usage = find(record)
        if usage is None:
            if "error" in record:
                continue
            raise Unreadable("neither a request nor usage", origin.file, origin.number)
        inner = fields(record.get("response")) or record
        signs = told.or_else(
            Signs(
                text(record.get("provider")),
                text(record.get("url")) or text(record.get("path")),
                model=_model(record) or _model(inner),
            )
        )
        if "prompt_cache_hit_tokens" in usage and not signs.provider:
            signs = signs.or_else(Signs("deepseek"))
        asked = without_body(signs.model, signs, origin)
        when = number(record.get("created")) or number(record.get("created_at"))
        known = beside(asked, {"time": when, **record, "usage": usage})
        yield replace(known, tier=known.tier or text(inner.get("service_tier")))


def _model(held: Object) -> str:
    """As OpenAI, Anthropic and Gemini call it."""
    return text(held.get("model")) or text(held.get("modelVersion"))


ANSWERS = Kind("answers", claims, read)
