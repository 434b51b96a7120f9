"""One run of a body."""

from dataclasses import dataclass, field

from headstart.insight.lint_code.values import Item, Scope, Value


@dataclass(slots=True)
class Frame:
    """One run of a module's or a function's body."""

    scope: Scope
    fixed: bool
    """Run once, when a module is loaded."""
    loops: int = 0
    returned: list[Value] = field(default_factory=list)
    yielded: list[Item] = field(default_factory=list)
