"""What outlives one call."""

from headstart.insight.lint_code import foreign
from headstart.insight.lint_code.prompt import role
from headstart.insight.lint_code.values import Array, Item, Value

PERSISTENT = -1
"""The depth of what lives longer than one call."""


def said_once(value: Value) -> Value:
    """What is added to a conversation that outlives the call stays as it was said."""
    items = value.shape.items if isinstance(value.shape, Array) else (Item(value),)
    said = role(value) is not None or any(role(item.value) is not None for item in items)
    return value.only(foreign.nothing) if said else value
