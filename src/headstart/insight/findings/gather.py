"""Findings in the order in which people read them."""

from collections.abc import Iterable

from headstart.insight.findings.finding import Finding


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By file, line, column, pointer and code; the same finding only once."""
    return sorted(dict.fromkeys(findings), key=_key)


def _key(finding: Finding) -> tuple[str, int, int, str, str, str]:
    where = finding.where
    return (
        where.path,
        where.line or 0,
        where.column or 0,
        where.pointer or "",
        finding.code,
        finding.message,
    )
