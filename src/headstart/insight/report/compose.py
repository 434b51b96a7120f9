"""From what was read to a report."""

from headstart.insight.asked.count import Counter
from headstart.insight.report.document import Document
from headstart.insight.report.material import Material
from headstart.insight.report.sections import caching, cost, read
from headstart.insight.report.sections.next import conclude
from headstart.insight.report.tally import in_order


def compose(material: Material, count: Counter) -> Document:
    """Everything that is known by now. The sessions are closed: nothing more is heard."""
    last = conclude(material)
    tally = material.tally
    return Document(
        material.by,
        [
            read.section(material, count),
            caching.section(material),
            cost.section(material),
            last.section,
        ],
        last.findings,
        last.advice,
        in_order(tally.groups),
        tally.total,
        material.kind,
        abstained=material.empty,
    )
