"""What is sent to Anthropic's Message Batches: `{"requests": [{"custom_id": …, "params": {…}}]}`.

Also the list's elements alone, one a line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.files.kind import Kind, Object, Objects
from headstart.insight.asked.formats.values import fields, objects, text
from headstart.insight.asked.read import read as read_body


def claims(first: Sequence[Object]) -> bool:
    """Objects with `params`, or batches of them."""
    return all(
        isinstance(each.get("params"), dict)
        or (isinstance(each.get("requests"), list) and _is_one(each["requests"][:1]))
        for each in first
    )


def read(values: Objects, told: Signs) -> Iterator[Asked]:
    """Raises Unreadable."""
    signs = told.or_else(Signs("anthropic", "/v1/messages/batches"))
    for origin, value in values:
        record = fields(value)
        if "params" in record:
            yield _request(record, signs, origin)
            continue
        for number, (_, each) in enumerate(objects(record.get("requests"), ("requests",)), 1):
            yield _request(each, signs, Origin(origin.file, number))


def _request(record: Object, signs: Signs, origin: Origin) -> Asked:
    asked = read_body(record.get("params"), signs, origin)
    return replace(asked, id=text(record.get("custom_id")), tier="batch")


def _is_one(first: Sequence[object]) -> bool:
    return all("params" in fields(each) for each in first)


MESSAGE_BATCH = Kind("Anthropic batch", claims, read)
