from headstart.stores.breaker import Breaker, Permit, State


def admitted(breaker: Breaker, now: float) -> Permit:
    permit = breaker.admit(now)
    assert permit is not None
    return permit


def opened(now: float = 0.0) -> Breaker:
    breaker = Breaker()
    for _ in range(5):
        breaker.failed(admitted(breaker, now), now)
    assert breaker.state is State.OPEN
    return breaker


def test_it_lets_everything_through_while_all_is_well() -> None:
    breaker = Breaker()
    for second in range(100):
        breaker.succeeded(admitted(breaker, second))
    assert breaker.state is State.CLOSED


def test_five_failures_in_a_row_open_it_and_four_do_not() -> None:
    breaker = Breaker()
    for _ in range(3):
        for _ in range(4):
            breaker.failed(admitted(breaker, 0), 0)
        for _ in range(16):
            breaker.succeeded(admitted(breaker, 0))
    assert breaker.state is State.CLOSED
    for _ in range(5):
        breaker.failed(admitted(breaker, 0), 0)
    assert breaker.admit(1) is None


def test_a_store_that_fails_every_other_time_is_found_out() -> None:
    breaker = Breaker()
    for call in range(20):
        permit = admitted(breaker, call)
        if call % 2:
            breaker.failed(permit, call)
        else:
            breaker.succeeded(permit)
    assert breaker.state is State.OPEN


def test_after_ten_seconds_one_call_decides() -> None:
    breaker = opened(0)
    assert breaker.admit(9.9) is None
    probe = admitted(breaker, 10)
    assert breaker.admit(10) is None
    breaker.succeeded(probe)
    assert breaker.state is State.CLOSED
    admitted(breaker, 10)


def test_each_failed_probe_doubles_the_pause_up_to_five_minutes() -> None:
    breaker, now = opened(0), 0.0
    for pause in (10, 20, 40, 80, 160, 300, 300):
        assert breaker.admit(now + pause - 0.1) is None
        now += pause
        breaker.failed(admitted(breaker, now), now)


def test_a_recovery_forgets_the_long_pause() -> None:
    breaker = opened(0)
    breaker.failed(admitted(breaker, 10), 10)
    breaker.succeeded(admitted(breaker, 30))
    for _ in range(5):
        breaker.failed(admitted(breaker, 40), 40)
    assert breaker.admit(49.9) is None
    assert breaker.admit(50) is not None


def test_a_probe_that_never_reports_is_given_up() -> None:
    breaker = opened(0)
    lost = admitted(breaker, 10)
    assert breaker.admit(19.9) is None
    probe = admitted(breaker, 20)
    breaker.failed(lost, 21)
    assert breaker.state is State.HALF_OPEN
    breaker.succeeded(probe)
    assert breaker.state is State.CLOSED


def test_calls_from_before_it_opened_say_nothing_after() -> None:
    breaker = Breaker()
    late = [admitted(breaker, 0) for _ in range(9)]
    for permit in late[:5]:
        breaker.failed(permit, 0)
    admitted(breaker, 10)
    breaker.succeeded(late[5])
    breaker.failed(late[6], 10)
    assert breaker.state is State.HALF_OPEN
