"""From a taint that reaches a prompt to a finding."""

from headstart.insight.findings.finding import Finding, Severity, Step
from headstart.insight.lint_code.machine.hits import Hit
from headstart.insight.lint_code.rules import TOLD

_FIXED = (
    "It is made once, when the module is loaded: each worker and each start has another prefix."
)
_DAILY = "Each day has another prefix: the first request of a day reads nothing behind it."


def finding(hit: Hit) -> Finding:
    """Placed where the prompt is sent; the way begins where the value is made."""
    taint, cause = hit.taint, hit.taint.cause
    told = TOLD[cause.code]
    severity, why = told.rule.severity, told.why
    if cause.daily:
        severity, why = _milder(severity), _DAILY
    if taint.fixed:
        severity, why = _milder(severity), _FIXED
    steps: list[Step] = [taint.source]
    for step in (*taint.way, hit.sink):
        if (step.where.path, step.where.line) != (steps[-1].where.path, steps[-1].where.line):
            steps.append(step)
    return Finding(
        code=cause.code,
        severity=severity,
        message=f"{cause.what} reaches {hit.part}.",
        why=why,
        where=hit.sink.where,
        evidence=cause.evidence,
        fix=told.fix,
        steps=tuple(steps),
    )


def _milder(severity: Severity) -> Severity:
    return Severity.NOTE if severity is Severity.NOTE else list(Severity)[severity.rank + 1]
