import itertools
import math
import random

import pytest

from headstart.insight.probe.ratio import _outside, _u_counts, ratio


@pytest.mark.parametrize(
    ("m", "n", "critical"),
    [(4, 4, 0), (4, 6, 2), (5, 5, 2), (5, 8, 6), (8, 8, 13), (10, 10, 23), (20, 20, 127)],
)
def test_as_much_is_left_out_as_the_published_table_of_critical_u_allows(
    m: int, n: int, critical: int
) -> None:
    # Two-sided 5 %, as in any table of the Mann-Whitney test; U = 0 … critical may be left out.
    assert _outside(m, n, 0.025) == critical + 1


def test_three_of_each_are_too_few_for_an_interval() -> None:
    found = ratio([1.0, 1.1, 0.9], [10.0, 11.0, 9.0])
    assert (found.low, found.high) == (0.0, math.inf)
    assert found.estimate == pytest.approx(0.1)


def test_the_distribution_of_u_is_that_of_all_orders() -> None:
    m, n = 3, 4
    counted = [0] * (m * n + 1)
    for ones in itertools.combinations(range(m + n), m):
        others = [at for at in range(m + n) if at not in ones]
        counted[sum(one > other for one in ones for other in others)] += 1
    assert _u_counts(m, n) == counted


def test_nineteen_of_twenty_intervals_hold_the_truth_whatever_the_noise() -> None:
    chance, held = random.Random(7), 0
    for _ in range(1000):
        # A long tail, as a shared machine has: one in five requests takes up to five times as long.
        ones, others = ([scale * _noise(chance) for _ in range(6)] for scale in (0.3, 1.0))
        found = ratio(ones, others)
        held += found.low <= 0.3 <= found.high
    assert held >= 940


def _noise(chance: random.Random) -> float:
    return chance.uniform(0.9, 1.1) * (chance.uniform(1, 5) if chance.random() < 0.2 else 1)


def test_from_seven_of_each_on_one_outlier_moves_neither_end() -> None:
    others = [10 + at / 10 for at in range(7)]
    ones = [each / 10 for each in others]
    calm, hit = ratio(ones, others), ratio([*ones[:-1], 9.0], others)
    assert hit.low == pytest.approx(calm.low, rel=0.05)
    assert hit.high == pytest.approx(calm.high, rel=0.05)
