from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from headstart.text.remembered import Cut, Remembered, shared_length
from headstart.text.seams import Seams
from headstart.text.shelf import STRIDE, PrefixKeys, Shelf
from headstart.text.text_memory import TextMemory


def remembered(text: str, *ids: int) -> Remembered:
    numbers = array("I", ids or range(len(text)))
    return Remembered(text, numbers, Seams(), (Cut(len(text), len(numbers)),))


def every_stride(text: str) -> range:
    return range(len(text) // STRIDE * STRIDE, 0, -STRIDE)


@given(st.text("ab", max_size=300), st.text("ab", max_size=300))
def test_the_shared_length_is_that_of_the_common_prefix(one: str, two: str) -> None:
    pairs = zip(one, two, strict=False)
    length = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(two)))
    assert shared_length(one, two) == length


@given(st.integers(0, 5000))
def test_the_shared_length_is_found_at_any_depth(length: int) -> None:
    text = "xyz" * 2000
    assert shared_length(text, text[:length] + "!" + text[length:]) == length
    assert shared_length(text, text[:length]) == length
    assert shared_length(text[:length], text) == length


def test_a_text_is_found_by_its_beginning() -> None:
    memory = TextMemory(1_000_000)
    text = "x" * 3000
    entry = remembered(text)
    memory.put("", entry)
    longer = text[:2500] + "y" * 1000
    match = memory.longest("", longer, every_stride(longer))
    assert match is not None
    assert (match.entry, match.shared) == (entry, 2500)
    assert memory.longest("other", longer, every_stride(longer)) is None


def test_the_text_that_shares_most_is_found_among_many() -> None:
    memory = TextMemory(10_000_000)
    system = "s" * 5000
    texts = [system + str(number) * 800 for number in range(100)]
    for text in texts:
        memory.put("", remembered(text))
    for text in texts:
        match = memory.longest("", text + "?", every_stride(text))
        assert match is not None
        assert match.shared == len(text)


def test_texts_that_only_look_alike_are_told_apart_and_do_not_hide_shorter_ones() -> None:
    memory = TextMemory(10_000_000)
    head, tail = "h" * 600, "t" * 3000
    memory.put("", remembered(head + "1" + tail))
    memory.put("", remembered(head + "2" + tail))
    text = head + "3" + tail
    match = memory.longest("", text, every_stride(text))
    assert match is not None
    assert match.shared == 600


def test_a_text_that_extends_another_takes_its_place() -> None:
    shelf = Shelf()
    short = remembered("a" * 1000)
    long = remembered("a" * 2000)
    shelf.put(short, None)
    shelf.put(long, short)
    assert len(shelf) == 1
    assert shelf.by_prefix(PrefixKeys(short.text)(512)) is long
    assert shelf.by_ids(short.ids) is long
    assert shelf.by_ids(long.ids) is long


def test_what_is_dropped_leaves_nothing_behind() -> None:
    shelf = Shelf()
    one, two = remembered("a" * 3000), remembered("a" * 1500 + "b" * 1500)
    shelf.put(one, None)
    shelf.put(two, None)
    shelf.drop_oldest()
    key_of = PrefixKeys(one.text)
    assert shelf.by_prefix(key_of(3000)) is None
    assert shelf.by_prefix(key_of(1024)) is two
    shelf.drop_oldest()
    assert (len(shelf), shelf.nbytes) == (0, 0)
    assert shelf.by_prefix(key_of(1024)) is None
    assert shelf.by_ids(two.ids) is None


def test_a_prompt_is_known_by_its_ids_also_after_it_went_on() -> None:
    memory = TextMemory(1_000_000)
    prompt = remembered("prompt", 1, 2, 3)
    memory.put("", prompt)
    longer = Remembered("prompt, more", array("I", [1, 2, 3, 4]), Seams(), prompt.stops)
    memory.put("", longer, prompt)
    assert memory.prompt("", array("I", [1, 2, 3])) == (longer, Cut(6, 3))
    assert memory.prompt("", array("I", [1, 2])) is None
    assert memory.prompt("", array("I", [1, 2, 4])) is None
    assert memory.prompt("other", array("I", [1, 2, 3])) is None


@pytest.mark.parametrize("others", [["busy"], ["busy", "busy", "busy", "small"]])
def test_a_busy_scope_does_not_push_a_quiet_one_out(others: list[str]) -> None:
    memory = TextMemory(100_000)
    memory.put("quiet", remembered("q" * 2000))
    for number in range(100):
        name = others[number % len(others)]
        memory.put(name, remembered(f"{number}" + "b" * (2000 if name == "busy" else 10)))
        assert memory.nbytes <= 100_000
    text = "q" * 2000
    assert memory.longest("quiet", text, every_stride(text)) is not None


@pytest.mark.parametrize("scopes", [1, 7, 200])
def test_the_budget_holds_for_any_number_of_scopes(scopes: int) -> None:
    memory = TextMemory(50_000)
    for number in range(500):
        memory.put(str(number % scopes), remembered(f"{number}" + "t" * (number * 37 % 3000)))
        assert memory.nbytes <= 50_000


def test_a_used_text_outlives_an_unused_one() -> None:
    memory = TextMemory(50_000)
    used = remembered("u" * 2000)
    memory.put("", used)
    for number in range(100):
        memory.put("", remembered(f"{number}" + "t" * 2000))
        memory.put("", used, used)
    assert memory.longest("", used.text, every_stride(used.text)) is not None


def test_a_text_that_grows_after_it_was_put_is_counted_the_same_when_it_goes() -> None:
    shelf = Shelf()
    entry = remembered("é—" * 1000)
    shelf.put(entry, None)
    taken = entry.nbytes
    Tokenizer(models.BPE()).encode(entry.text)
    assert entry.nbytes > taken, "the library leaves the text's UTF-8 in the string"
    shelf.drop_oldest()
    assert shelf.nbytes == 0


def test_putting_the_same_text_again_and_again_takes_no_more_memory() -> None:
    memory = TextMemory(50_000)
    one, two = remembered("u" * 2000), remembered("u" * 2000)
    memory.put("", one)
    memory.put("", two)
    taken = memory.nbytes
    for _ in range(100):
        memory.put("", one, one)
        memory.put("", two, two)
    assert memory.nbytes == taken
