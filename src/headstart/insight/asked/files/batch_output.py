"""What OpenAI's Batch API gives back: a line for each request, under its `custom_id`.

`{"id": …, "custom_id": …, "response": {"status_code": 200, "request_id": …, "body": {…}},
"error": null}`. The batch's input is a recording with bodies.
"""

from collections.abc import Iterator, Sequence

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.files.answered import answered
from headstart.insight.asked.files.kind import Kind, Object, Objects
from headstart.insight.asked.formats.values import fields, text


def claims(first: Sequence[Object]) -> bool:
    """Lines with a `custom_id`, and an answer or an error in place of a body."""
    return all(
        isinstance(each.get("custom_id"), str)
        and "body" not in each
        and isinstance(each.get("response", each.get("error")), dict | None)
        and ("response" in each or "error" in each)
        for each in first
    )


def read(objects: Objects, told: Signs) -> Iterator[Asked]:
    """Those that were answered; the others cost nothing. Raises nothing for a broken answer."""
    for origin, line in objects:
        record = fields(line)
        body = fields(fields(record.get("response")).get("body"))
        found = answered(text(record.get("custom_id")), body, "batch", told, origin)
        if found is not None:
            yield found


BATCH_OUTPUT = Kind("OpenAI batch output", claims, read, answers=True)
