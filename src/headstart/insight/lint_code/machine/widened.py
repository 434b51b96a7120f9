"""Arguments with no more than rules ask for."""

from headstart.insight.lint_code.prompt import role
from headstart.insight.lint_code.sinks import SPOKEN
from headstart.insight.lint_code.values import (
    CLEAN,
    Array,
    Closure,
    Klass,
    Object,
    Record,
    Space,
    Template,
    Value,
)


def widened(value: Value) -> Value:
    """An argument without what no rule asks for, so that one run serves many calls."""
    if value is CLEAN or value.taints:
        return value
    match value.shape:
        case Closure() | Klass() | Object() | Space() | Template():
            return value
        case Array(items) if any(role(item.value) is not None for item in items):
            return value
        case Record(fields) if any(name in SPOKEN for name, _ in fields):
            return value
        case _:
            return CLEAN
