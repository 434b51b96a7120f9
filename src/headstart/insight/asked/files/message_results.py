"""What Anthropic's Message Batches give back: a line for each request, under its `custom_id`.

`{"custom_id": …, "result": {"type": "succeeded", "message": {…}}}`; those that errored, expired or
were cancelled have no message and cost nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.files.answered import answered
from headstart.insight.asked.files.kind import Kind, Object, Objects
from headstart.insight.asked.formats.values import fields, text

PROVIDER = Signs("anthropic")


def claims(first: Sequence[Object]) -> bool:
    """Lines with a `custom_id` and a result of some type."""
    return all(
        isinstance(each.get("custom_id"), str) and bool(fields(each.get("result")).get("type"))
        for each in first
    )


def read(objects: Objects, told: Signs) -> Iterator[Asked]:
    """Those that succeeded."""
    signs = told.or_else(PROVIDER)
    for origin, line in objects:
        record = fields(line)
        message = fields(fields(record.get("result")).get("message"))
        found = answered(text(record.get("custom_id")), message, "batch", signs, origin)
        if found is not None:
            yield replace(found, format="anthropic")


MESSAGE_RESULTS = Kind("Anthropic batch results", claims, read, answers=True)
