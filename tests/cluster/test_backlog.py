from hypothesis import given
from hypothesis import strategies as st

from headstart.cache import Cleared
from headstart.cluster.backlog import Backlog


def test_what_is_taken_is_numbered_from_zero_in_order() -> None:
    backlog = Backlog(10)
    for second in range(3):
        backlog.put(float(second), [Cleared()])
    assert [(batch.seq, batch.seconds) for batch in backlog.take()] == [
        (0, 0.0),
        (1, 1.0),
        (2, 2.0),
    ]
    assert not backlog.take()


def test_when_too_many_wait_the_oldest_go_and_their_numbers_with_them() -> None:
    backlog = Backlog(2)
    for _ in range(5):
        backlog.put(0.0, [Cleared()])
    assert [batch.seq for batch in backlog.take()] == [3, 4]
    assert (backlog.dropped, backlog.next_seq) == (3, 5)


@given(most=st.integers(1, 5), steps=st.lists(st.sampled_from(["put", "take"]), max_size=40))
def test_every_batch_is_taken_once_or_counted_as_dropped(most: int, steps: list[str]) -> None:
    backlog, taken = Backlog(most), list[int]()
    for step in steps:
        if step == "put":
            backlog.put(0.0, [Cleared()])
        else:
            taken += [batch.seq for batch in backlog.take()]
    taken += [batch.seq for batch in backlog.take()]
    assert taken == sorted(set(taken))
    assert len(taken) + backlog.dropped == backlog.next_seq == steps.count("put")
