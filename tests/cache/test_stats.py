import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.cache import Tally, TokenRates


def test_nothing_asked_is_nothing_counted() -> None:
    assert Tally().rates(now=1e6) == TokenRates(0, 0, 0, 0)


def test_prompts_and_hits_are_summed_by_tokens() -> None:
    tally = Tally()
    tally.add(prompt=100, hit=64, now=10.0)
    tally.add(prompt=50, hit=0, now=11.5)
    assert tally.rates(now=12.0) == TokenRates(prompt=150, hit=64, recent_prompt=150, recent_hit=64)


def test_prompts_of_one_second_are_all_counted() -> None:
    tally = Tally()
    for _ in range(1000):
        tally.add(prompt=3, hit=2, now=7.25)
    assert tally.rates(now=7.5) == TokenRates(3000, 2000, 3000, 2000)


@pytest.mark.parametrize("age", [0.0, 1.0, 30.0, 58.9])
def test_a_prompt_within_the_minute_is_recent(age: float) -> None:
    tally = Tally()
    tally.add(prompt=9, hit=4, now=1000.7)
    assert tally.rates(now=1000.7 + age) == TokenRates(9, 4, 9, 4)


@pytest.mark.parametrize("age", [60.1, 61.0, 3600.0, 1e9])
def test_after_a_minute_a_prompt_counts_only_since_start(age: float) -> None:
    tally = Tally()
    tally.add(prompt=9, hit=4, now=1000.7)
    assert tally.rates(now=1000.7 + age) == TokenRates(9, 4, 0, 0)


def test_a_quiet_minute_does_not_hide_what_comes_after_it() -> None:
    tally = Tally()
    tally.add(prompt=9, hit=4, now=0.0)
    tally.rates(now=500.0)
    tally.add(prompt=5, hit=1, now=501.0)
    assert tally.rates(now=502.0) == TokenRates(14, 5, 5, 1)


def test_memory_is_bounded_by_the_window_and_not_by_the_traffic() -> None:
    tally = Tally()
    for tenth in range(20_000):
        tally.add(prompt=1, hit=0, now=tenth / 10)
    assert len(tally._seconds) <= 61


prompts = st.tuples(st.integers(1, 100), st.integers(0, 100), st.floats(0, 5))


@given(st.lists(prompts, max_size=60), st.floats(0, 90))
def test_sums_agree_with_a_plain_list_of_prompts(
    added: list[tuple[int, int, float]], wait: float
) -> None:
    """Recent counts are kept by the second, so the window's far end may be a second short."""
    tally, now, log = Tally(), 0.0, list[tuple[float, int, int]]()
    for prompt, hit, pause in added:
        now += pause
        tally.add(prompt=prompt, hit=hit, now=now)
        log.append((now, prompt, hit))
    now += wait
    rates = tally.rates(now)

    assert rates.prompt == sum(prompt for _, prompt, _ in log)
    assert rates.hit == sum(hit for _, _, hit in log)
    surely = [entry for entry in log if entry[0] >= now - 59]
    perhaps = [entry for entry in log if entry[0] >= now - 60]
    assert sum(p for _, p, _ in surely) <= rates.recent_prompt <= sum(p for _, p, _ in perhaps)
    assert sum(h for _, _, h in surely) <= rates.recent_hit <= sum(h for _, _, h in perhaps)
