import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.insight.sse import SSEDecoder

# Streams and their events after https://html.spec.whatwg.org/multipage/server-sent-events.html
STREAM = b": keep-alive\n\ndata: one\n\nevent: x\nid: 7\ndata:two\ndata:  three\n\ndata: four\n\n"
EVENTS = [b"one", b"two\n three", b"four"]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@given(cuts=st.lists(st.integers(0, len(STREAM) * 2), max_size=12))
def test_events_do_not_depend_on_line_ends_or_on_how_the_bytes_are_cut(
    newline: bytes, cuts: list[int]
) -> None:
    stream = STREAM.replace(b"\n", newline) + b":\n"  # the comment frees a CR that waits for its LF
    decoder = SSEDecoder()
    borders = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    pieces = [stream[a:b] for a, b in itertools.pairwise(borders)]
    assert [event for piece in pieces for event in decoder.feed(piece)] == EVENTS


def test_an_event_is_given_out_by_the_bytes_that_end_it_and_not_later() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\n") == [b"a"]


def test_characters_cut_in_half_come_out_whole() -> None:
    payload = "naïve 🙂".encode()
    stream = b"data: " + payload + b"\n\n"
    decoder = SSEDecoder()
    assert [e for i in range(len(stream)) for e in decoder.feed(stream[i : i + 1])] == [payload]
