from hypothesis import given
from hypothesis import strategies as st

from headstart.insight.plan import spans

at = st.integers(0, 60)
size = st.integers(1, 25)


@given(at, at, size)
def test_pairs_are_those_that_the_mask_lets_through(one: int, other: int, size: int) -> None:
    begin, end = min(one, other), max(one, other)
    pairs = [(query, key) for query in range(begin, end) for key in range(query + 1)]
    assert spans.causal(begin, end) == len(pairs)
    assert spans.windowed(begin, end, size) == sum(query - key < size for query, key in pairs)
    assert spans.chunked(begin, end, size) == sum(
        query // size == key // size for query, key in pairs
    )
