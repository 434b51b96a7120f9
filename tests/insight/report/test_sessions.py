"""Sessions, by their ids and by what goes on from what."""

import pytest

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import Piece
from headstart.insight.report.sessions import Sessions, expected, goes_on
from headstart.ledger import Account


def asked(*texts: str, session: str = "", tenant: str = "") -> Asked:
    pieces = [Piece("user", ("messages", n), text, n, "user") for n, text in enumerate(texts)]
    body = {"messages": list(texts)}
    return Asked("chat", "openai", "m", pieces, body, session=session, tenant=tenant)


ONE = Account(100, 50)


@pytest.mark.parametrize(("turns", "rate"), [(1, 0), (2, 1 / 3), (3, 0.5), (20, 19 / 21)])
def test_turns_of_one_size_let_all_but_their_own_tokens_be_read(turns: int, rate: float) -> None:
    """Of 1 + 2 + … + T parts, 0 + 1 + … + (T-1) came before."""
    parts = sum(range(1, turns + 1))
    assert expected(turns) == pytest.approx((parts - turns) / parts)
    assert expected(turns) == pytest.approx(rate)


def test_a_request_goes_on_only_from_one_that_it_begins_with() -> None:
    assert goes_on(asked("a"), asked("a", "b"))
    assert not goes_on(asked("a"), asked("a"))
    assert not goes_on(asked("a", "b"), asked("a", "c", "d"))


def test_one_that_goes_on_is_a_turn_and_a_repeat_is_a_new_session() -> None:
    sessions = Sessions()
    first, second, again = asked("a"), asked("a", "b"), asked("a", "b")
    assert sessions.hear(first, None, ONE).number == 1
    assert sessions.hear(second, first, ONE).number == 2
    assert sessions.hear(again, second, ONE).number == 1
    assert {turns: each.sessions for turns, each in sessions.lengths().items()} == {1: 1, 2: 1}


def test_ids_are_apart_by_tenant() -> None:
    sessions = Sessions()
    for tenant in ("a", "b", "a"):
        sessions.hear(asked("x", session="s", tenant=tenant), None, ONE)
    lengths = sessions.lengths()
    assert {turns: each.sessions for turns, each in lengths.items()} == {1: 1, 2: 1}
    assert lengths[2].prompt == 200
    assert lengths[2].read == 100


def test_the_request_before_is_kept_without_its_text() -> None:
    sessions = Sessions()
    sessions.hear(asked("secret", session="s"), None, ONE)
    turn = sessions.hear(asked("secret", "more", session="s"), None, ONE)
    assert turn.before is not None
    assert (turn.before.pieces, turn.before.body) == ((), {})
    assert turn.before_prompt == 100
