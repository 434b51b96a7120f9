from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.ledger import money


@given(st.integers(-(1 << 62), 1 << 62))
def test_pico_dollars_and_dollars_are_each_others_inverse(pico: int) -> None:
    assert money.pico(money.dollars(pico)) == pico


def test_what_is_smaller_than_a_pico_dollar_is_rounded_half_to_even() -> None:
    amounts = ["0.0000000000005", "0.0000000000015", "0.0000000000006"]

    assert [money.pico(Decimal(amount)) for amount in amounts] == [0, 2, 1]


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "0"),
        ("100", "100"),
        ("1E+3", "1000"),
        ("0.000000000001", "0.000000000001"),
        ("1.50", "1.5"),
    ],
)
def test_money_has_no_exponent_and_loses_no_digit(amount: str, text: str) -> None:
    assert money.text(Decimal(amount)) == text
