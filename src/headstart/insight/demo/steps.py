"""The tour: what is shown, in which order. Another command is one more line of STEPS."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time

from headstart.insight.explain import main as explain
from headstart.insight.explain.explanation import Wanted
from headstart.insight.layout import main as layout
from headstart.insight.lint import main as lint
from headstart.insight.lint_code import main as lint_code
from headstart.insight.lint_code.settings import Settings
from headstart.insight.plan import main as plan
from headstart.insight.report import main as report


@dataclass(frozen=True, slots=True)
class Step:
    """One report."""

    title: str
    line: str
    """What to type for the same, where the sample files are."""
    run: Callable[[], int]
    """Prints it, with the directory of the files as the current one; the exit status."""
    most: int = 14
    """Lines of it that the tour shows."""


STEPS: Sequence[Step] = (
    Step(
        "A support agent that never reads what it wrote: what breaks its prefix?",
        "headstart lint support.jsonl",
        lambda: lint.main(lint.Given(["support.jsonl"])),
    ),
    Step(
        "Two of its requests: where does the second leave the first, and what is lost?",
        "headstart explain request.json next.json",
        lambda: explain.main(explain.Given("request.json", "next.json", wanted=Wanted(now=time()))),
        24,
    ),
    Step(
        "What did it read, what did it cost, and what would change that?",
        "headstart report support.jsonl",
        lambda: report.main(report.Given(["support.jsonl"])),
        30,
    ),
    Step(
        "Where does the clock come from?",
        "headstart lint-code agent.py",
        lambda: lint_code.main(
            [Path("agent.py")], Settings(), form="text", diff=None, stdin_name=""
        ),
    ),
    Step(
        "How should the prompt stand, and what would that gain?",
        "headstart layout support.jsonl",
        lambda: layout.main(layout.Given("support.jsonl")),
        40,
    ),
    Step(
        "Documents in front of the instructions: the same question.",
        "headstart layout rag.jsonl",
        lambda: layout.main(layout.Given("rag.jsonl")),
        40,
    ),
    Step(
        "An agent that only appends: nothing to find.",
        "headstart lint healthy.jsonl",
        lambda: lint.main(lint.Given(["healthy.jsonl"])),
    ),
    Step(
        "Conversations that a router sends to two models by turns.",
        "headstart lint router.jsonl",
        lambda: lint.main(lint.Given(["router.jsonl"])),
    ),
    Step(
        "What is a prefix of 4,000 tokens worth on a GPU of your own?",
        "headstart plan --model llama-3-8b --prefix 4000 --question 200",
        lambda: plan.main(
            plan.Given(model="llama-3-8b", prefix=4000, question=200), form="text", plot=None
        ),
        30,
    ),
)
