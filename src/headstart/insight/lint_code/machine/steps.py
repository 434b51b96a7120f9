"""Where taints begin, and the lines by which they come."""

from headstart.insight.findings.finding import Step
from headstart.insight.findings.place import Place
from headstart.insight.lint_code import ir
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.taint import Cause, Taint
from headstart.insight.lint_code.values import Value

MAX_LINE = 100
"""Characters of a line that are shown."""


def step(at: ir.At, frame: Frame) -> Step:
    """The line at this place."""
    module = frame.scope.module
    line = module.lines[at.line - 1].strip() if at.line <= len(module.lines) else ""
    cut = line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"
    return Step(Place(module.path, at.line, at.column), cut)


def moved(value: Value, at: ir.At, frame: Frame) -> Value:
    """With one more step on the way of its taints."""
    if not value.taints:
        return value
    here = step(at, frame)
    return value.tainted(lambda taint: taint.via(here))


def taint_of(cause: Cause, at: ir.At, frame: Frame) -> Taint:
    """A new one, that begins at this place."""
    return Taint(cause, step(at, frame), fixed=frame.fixed)
