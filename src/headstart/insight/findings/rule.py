"""What a linter looks for, and the page that explains it."""

from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import dedent

from headstart.insight.findings.finding import Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule keeps its code for ever."""

    code: str
    name: str
    """In kebab-case, such as `clock-in-prefix`."""
    severity: Severity
    """What its findings usually have."""
    summary: str
    """One sentence."""
    body: str
    """The page below the summary, in Markdown; it may be indented as a whole."""


def page(rule: Rule) -> str:
    """One section, with the code in lower case as its anchor."""
    head = f'<a id="{rule.code.lower()}"></a>\n\n## {rule.code} {rule.name} ({rule.severity})'
    return f"{head}\n\n{rule.summary}\n\n{dedent(rule.body).strip()}\n"


def pages(rules: Iterable[Rule]) -> str:
    """All sections."""
    return "\n".join(page(rule) for rule in rules)
