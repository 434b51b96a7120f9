from array import array

from headstart.insight.asked.count import Counts
from headstart.insight.asked.count.counter import BESIDES, MOST_IDS, MOST_PIECES, label
from headstart.insight.asked.piece import Piece


class Letters:
    """Counts letters, and how often it is asked."""

    measured = True
    method = "letters"

    def __init__(self) -> None:
        self.asked = 0

    def tokens(self, text: str) -> int:
        self.asked += 1
        return len(text)

    def ids(self, text: str) -> "array[int]":
        self.asked += 1
        return array("I", map(ord, text))


def test_a_piece_is_counted_once() -> None:
    letters = Letters()
    counts = Counts(letters)
    for message in range(3):
        assert counts.tokens(Piece("user", (), "abc", message)) == 3
    assert letters.asked == 1


def test_ids_of_a_piece_are_worked_out_once() -> None:
    letters = Letters()
    counts = Counts(letters)
    for message in range(3):
        assert counts.ids(Piece("user", (), "abc", message)) == array("I", map(ord, "abc"))
    assert letters.asked == 1


def test_a_call_says_its_name_too() -> None:
    counts = Counts(Letters())
    call = Piece("tool_use", (), "{}", name="get")
    assert counts.tokens(call) == 5
    assert counts.ids(call) == array("I", map(ord, "get{}"))
    assert counts.tokens(Piece("tool", (), "{}", name="get")) == 2


def test_memory_of_pieces_is_bounded() -> None:
    counts = Counts(Letters())
    for number in range(MOST_PIECES + 10):
        counts.tokens(Piece("user", (), str(number)))
    assert len(counts._known) <= MOST_PIECES


def test_memory_of_ids_is_bounded() -> None:
    counts = Counts(Letters())
    sizes = [0, 1, 63, MOST_IDS // 5, MOST_IDS // 5, MOST_IDS - BESIDES, MOST_IDS, 7]
    for number, size in enumerate(sizes):
        text = chr(65 + number) * size
        assert len(counts.ids(Piece("user", (), text))) == size
        held = [len(ids) + BESIDES for ids in counts._ids.values()]
        assert sum(held) == MOST_IDS - counts._room <= MOST_IDS


def test_a_label_says_whether_it_was_measured() -> None:
    assert label(Letters()) == "measured (letters)"
