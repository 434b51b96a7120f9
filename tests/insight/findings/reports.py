from headstart.insight.findings.finding import Evidence, Finding, Severity, Step
from headstart.insight.findings.place import Place
from headstart.insight.findings.report import Report, Trouble
from headstart.insight.findings.rule import Rule

CLOCK = Rule("HS101", "a-clock", Severity.ERROR, "A clock.", "    Why a clock.\n\n    And so on.")
ORDER = Rule("HS210", "an-order", Severity.WARNING, "An order.", "Why an order.")
RULES = (CLOCK, ORDER)

FIRST = Finding(
    code="HS101",
    severity=Severity.ERROR,
    message="A clock is in `system`, 100% early.",
    why="Each request differs:\nnothing after it is read.",
    where=Place("my app/a,b.py", 14, 9),
    evidence=Evidence.CONFIRMED,
    fix="Move it to the last user message.",
    steps=(
        Step(Place("my app/a,b.py", 8, 11), "now = datetime.now()"),
        Step(Place("my app/a,b.py", 14, 9), "create(system=...)"),
    ),
)
SECOND = Finding(
    code="HS210",
    severity=Severity.WARNING,
    message="Tools | are not in order.",
    why="A tool that moves moves the rest.",
    where=Place("log.jsonl", 3, pointer="/tools/0"),
    evidence=Evidence.SUSPECTED,
)


def report(
    *findings: Finding,
    checked: int = 2,
    problems: tuple[Trouble, ...] = (),
    abstained: tuple[Trouble, ...] = (),
) -> Report:
    return Report(
        tool="headstart lint",
        rules=RULES,
        findings=findings,
        checked=checked,
        problems=problems,
        abstained=abstained,
    )


BROKEN = Trouble(Place("c.json", 1), "is no JSON")
BEYOND = Trouble(Place("d.ts"), "needs the extra code")
FULL = report(FIRST, SECOND, problems=(BROKEN,), abstained=(BEYOND,))
