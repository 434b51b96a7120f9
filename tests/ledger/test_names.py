import pytest

from headstart.ledger.names import matches, undated, weight


def test_a_star_speaks_for_every_name_that_begins_so() -> None:
    assert matches("gpt-5.6*", "gpt-5.6-sol")
    assert matches("*", "anything")
    assert not matches("gpt-5.6*", "gpt-5")
    assert not matches("gpt-5", "gpt-5-mini")


def test_the_longer_pattern_and_then_the_exact_one_says_more() -> None:
    patterns = ["*", "a*", "ab", "ab*", "abc*"]

    assert sorted(patterns, key=weight) == ["*", "a*", "ab*", "ab", "abc*"]


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("gpt-4o-2024-05-13", "gpt-4o"),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("gpt-6.1-sol", "gpt-6.1-sol"),
    ],
)
def test_a_day_at_the_end_of_a_name_is_not_part_of_the_model(name: str, plain: str) -> None:
    assert undated(name) == plain
