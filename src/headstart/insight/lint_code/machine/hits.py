"""Taints that reach prompts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headstart.insight.findings.finding import Step
from headstart.insight.lint_code import ir
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.machine.steps import step
from headstart.insight.lint_code.prompt import Early
from headstart.insight.lint_code.taint import Taint


@dataclass(frozen=True, slots=True)
class Hit:
    """A taint that reaches what stays of a prompt."""

    taint: Taint
    part: str
    sink: Step


class Hits:
    """Each cause, source, part and sink once, by the first way that was met."""

    def __init__(self) -> None:
        self._hits: dict[tuple[object, ...], Hit] = {}

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._hits.values())

    def clear(self) -> None:
        """Forgets all."""
        self._hits.clear()

    def report(self, found: Early, node: ir.Expr, frame: Frame) -> None:
        """What stands early in the prompt that `node` sends."""
        if not found.taints:
            return
        sink = step(node.at, frame)
        for taint in found.taints:
            if frame.fixed:
                # The prompt is sent as the module runs: each run is a request of its own.
                taint = replace(taint, fixed=False)
            if not taint.element:
                key = (taint.cause.code, taint.source, found.part.partition("[")[0], sink.where)
                self._hits.setdefault(key, Hit(taint, found.part, sink))
