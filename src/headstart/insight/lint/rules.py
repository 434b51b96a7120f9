"""The rules: one for each cause, under the cause's code."""

from collections.abc import Mapping

from headstart.insight.causes import ABOUT, Cause
from headstart.insight.findings.finding import Severity
from headstart.insight.findings.rule import Rule

NOTES = frozenset(
    (
        Cause.FORM,
        Cause.BLOCK_FLOOR,
        Cause.SHORT_SESSION,
        Cause.NEVER_SEEN,
        Cause.COMPACTION,
        Cause.NAMESPACE,
    )
)
"""Worth knowing; nothing has to be wrong."""
ERRORS = frozenset((Cause.MARKER_REFUSED,))
"""The vendor refuses the request."""


def severity(cause: Cause) -> Severity:
    """What a finding with this cause usually is."""
    if cause in ERRORS:
        return Severity.ERROR
    return Severity.NOTE if cause in NOTES else Severity.WARNING


RULES: Mapping[Cause, Rule] = {
    cause: Rule(
        about.code,
        cause.value.replace("_", "-"),
        severity(cause),
        f"{about.title}.",
        f"{about.why} {about.way_out}",
    )
    for cause, about in ABOUT.items()
}
