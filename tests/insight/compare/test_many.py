"""Prompts that differ in one value each cost little more than prompts that are the same."""

import time
from collections.abc import Iterator

from tests.insight.lint.test_linter import body

from headstart.insight.asked.count import counter_of
from headstart.insight.asked.read import read
from headstart.insight.lint.linter import Linter
from headstart.insight.shown import plain

RULES = "\n".join(f"{n}. Answer question {n} briefly; cite paragraph {n * 7}." for n in range(300))


def spent(systems: Iterator[str]) -> float:
    """Seconds of this process."""
    linter = Linter(counter_of(None), show=plain)
    asked = [read(body(system, f"Question {n}?")) for n, system in enumerate(systems)]
    begun = time.process_time()
    for each in asked:
        linter.hear(each)
    return time.process_time() - begun


def test_a_clock_in_each_prompt_does_not_have_every_line_of_it_searched_again() -> None:
    same = spent(f"It is 09:00:00.\n{RULES}" for _ in range(100))
    other = spent(f"It is 09:{n // 60:02d}:{n % 60:02d}.\n{RULES}" for n in range(100))
    assert other < 4 * same
