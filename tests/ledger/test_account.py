import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.ledger import Account

TOKENS = st.integers(0, 1 << 20)


@given(fresh=TOKENS, read=TOKENS, five=TOKENS, hour=TOKENS)
def test_fresh_read_and_written_add_up_to_the_prompt(
    fresh: int, read: int, five: int, hour: int
) -> None:
    account = Account(fresh + read + five + hour, read, written={"5m": five, "1h": hour})

    assert account.fresh == fresh


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": 10, "read": 11},
        {"prompt": 10, "read": -1},
        {"prompt": 10, "read": 5, "written": {"5m": 6}},
        {"prompt": 10, "read": 0, "written": {"5m": -1, "1h": 2}},
        {"prompt": 10, "read": 0, "output": -1},
        {"prompt": 10, "read": 0, "token_seconds": -1},
    ],
)
def test_no_term_of_an_account_is_negative(fields: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="negative"):
        Account(**fields)  # type: ignore[arg-type]


def test_accounts_add_up_term_by_term() -> None:
    first = Account(100, 40, 5, {"5m": 10, "1h": 20}, token_seconds=7, warms=True)
    second = Account(50, 0, 1, {"5m": 30}, token_seconds=1)

    both = first + second

    assert both == Account(150, 40, 6, {"5m": 40, "1h": 20}, token_seconds=8)
    assert both.fresh == first.fresh + second.fresh
    assert (first + first).warms
