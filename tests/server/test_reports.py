"""The store of reuse reports, and what goes into it."""

import tracemalloc
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.cache import Miss, Reason
from headstart.engine.api import Reuse
from headstart.server.reports import Report, Reports


def report(name: str, tokens: int = 10, contents: tuple[str, ...] | None = None) -> Report:
    reuse = Reuse(tokens, 0, Miss(Reason.NEVER_SEEN, 0))
    return Report(name, "tenant", reuse, array("I", range(tokens)), contents)


def test_a_report_is_found_by_its_id() -> None:
    reports, kept = Reports(), report("a")
    reports.add(kept)
    assert reports.get("a") is kept
    assert reports.get("b") is None


def test_the_oldest_reports_make_room() -> None:
    reports = Reports(3 * report("a").size)
    for name in "abcd":
        reports.add(report(name))
    assert [name for name in "abcd" if reports.get(name)] == ["b", "c", "d"]


def test_a_report_larger_than_the_budget_is_not_kept_and_nothing_else_suffers_later() -> None:
    reports = Reports(2 * report("a").size)
    reports.add(report("large", 100_000))
    assert reports.get("large") is None
    reports.add(report("a"))
    assert reports.get("a") is not None


@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 2000)), max_size=40))
def test_what_is_kept_is_the_longest_run_of_the_latest_that_fits(
    sizes: list[tuple[int, int]],
) -> None:
    budget = 20_000
    reports = Reports(budget)
    added = [report(str(i), n, ("é" * text,)) for i, (n, text) in enumerate(sizes)]
    for each in added:
        reports.add(each)
    kept = [each for each in added if reports.get(each.id)]
    assert kept == added[len(added) - len(kept) :]
    assert sum(each.size for each in kept) <= budget


@pytest.mark.parametrize("text", ["a" * 300_000, "🙂" * 100_000])
def test_a_reports_size_is_the_memory_it_holds(text: str) -> None:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        kept = report("a", 50_000, (text + "!", text + "?"))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before == pytest.approx(kept.size, rel=0.05)
