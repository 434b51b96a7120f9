import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.insight.bench.stats import Summary, percentile, summary

times = st.lists(st.floats(0, 1e6), min_size=2, max_size=60)


@given(times)
def test_a_summary_is_the_median_and_the_extremes(values: list[float]) -> None:
    expected = Summary(statistics.median(values), min(values), max(values), len(values))
    assert summary(iter(values)) == expected


@given(times, st.integers(1, 99))
def test_percentiles_agree_with_the_standard_library(values: list[float], percent: int) -> None:
    expected = statistics.quantiles(values, n=100, method="inclusive")[percent - 1]
    assert percentile(values, percent) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_one_value_is_its_own_percentile() -> None:
    assert percentile([3.5], 95) == 3.5


def test_the_spread_is_shown_only_where_there_is_one() -> None:
    assert summary([0.25]).show(1e3) == "250"
    assert summary([0.25, 0.2501]).show(1e3) == "250"
    assert summary([0.25, 0.5, 0.125]).show(1e3) == "250 (125-500)"
