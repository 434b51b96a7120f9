from headstart.stores.pace import PROBE_AFTER, Pace


def learned(*seconds: float, now: float = 0.0) -> Pace:
    """Of calls that moved 100 bytes each."""
    pace = Pace()
    for each in seconds:
        pace.took(each, 100, now)
    return pace


def test_what_was_never_measured_takes_nothing_and_is_worth_a_try() -> None:
    assert Pace().seconds(1 << 30) == 0
    assert Pace().worthwhile(1 << 30, 1e-9, 0.0)


def test_the_first_measurement_counts_at_once_and_in_proportion() -> None:
    assert learned(2.0).seconds(50) == 1.0


def test_a_single_slow_call_among_fast_ones_moves_it_by_a_fifth() -> None:
    assert learned(1.0, 1.0, 6.0).seconds(100) == 2.0


def test_what_takes_as_long_as_it_may_is_not_worthwhile() -> None:
    pace = learned(1.0)
    assert pace.worthwhile(100, 1.001, 0.0)
    assert not pace.worthwhile(100, 1.0, 0.0)


def test_what_was_too_slow_gets_another_try_after_half_a_minute_and_may_recover() -> None:
    pace = learned(10.0)
    assert not pace.worthwhile(100, 1.0, PROBE_AFTER)
    assert pace.worthwhile(100, 1.0, PROBE_AFTER + 0.001)
    pace.took(10.0, 100, 31.0)
    assert not pace.worthwhile(100, 1.0, 31.0 + PROBE_AFTER)
    for _ in range(12):
        pace.took(0.01, 100, 62.0)
    assert pace.worthwhile(100, 1.0, 62.0)


def test_a_call_that_moved_nothing_counts_as_one_unit() -> None:
    pace = Pace()
    pace.took(3.0, 0, 0.0)
    assert pace.seconds(1) == 3.0
