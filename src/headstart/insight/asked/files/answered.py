"""From an answer under an id to a request of which nothing else is known."""

from dataclasses import replace
from typing import Any

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.formats.values import fields, text
from headstart.insight.asked.read import without_body
from headstart.insight.asked.usage import account, find


def answered(id: str, body: Any, tier: str, told: Signs, origin: Origin) -> Asked | None:
    """None for an answer without usage, such as an error."""
    told_usage = account(find(body))
    if told_usage is None:
        return None
    model = text(fields(body).get("model"))
    asked = without_body(model, told.or_else(Signs(model=model)), origin)
    return replace(asked, id=id, account=told_usage, tier=tier)
