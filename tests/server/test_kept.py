"""What is kept of responses, and what goes first."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.dialects.errors import ApiError
from headstart.dialects.openai.responses.items import MessageItem, ReasoningItem
from headstart.dialects.openai.responses.listed import Listed
from headstart.dialects.openai.responses.said import Said
from headstart.dialects.openai.responses.turn import Turn
from headstart.server import kept as module
from headstart.server.kept import AllKept, Kept
from headstart.text.chat import Message


def turn(name: str, previous: str | None = None, size: int = 100) -> Turn:
    item = MessageItem("user", name, id=f"msg_{name}")
    said = Said((Message("user", name),), (), (Listed(f"msg_{name}", item),))
    return Turn(name, previous, said, ({"id": f"out_{name}"},), b"x" * size)


def missing(kept: Kept, name: str) -> ApiError:
    with pytest.raises(ApiError) as caught:
        kept.chain(name)
    return caught.value


def test_a_chain_is_the_oldest_first() -> None:
    kept = Kept()
    for name, previous in (("a", None), ("b", "a"), ("other", None), ("c", "b")):
        kept.add(turn(name, previous))
    assert [each.id for each in kept.chain("c")] == ["a", "b", "c"]
    assert [each.id for each in kept.chain("a")] == ["a"]


def test_a_deleted_response_is_gone_with_its_items() -> None:
    kept = Kept()
    kept.add(turn("a"))
    kept.add(turn("b", "a"))
    assert kept.delete("a")
    assert not kept.delete("a")
    assert kept.get("a") is None
    assert missing(kept, "b").code == "previous_response_not_found"
    for item in ("msg_a", "out_a"):
        with pytest.raises(ApiError):
            kept.item(item)
    assert kept.item("out_b") == {"id": "out_b"}


def test_an_item_that_two_responses_have_stays_while_the_later_one_does() -> None:
    kept = Kept()
    kept.add(turn("a"))
    kept.add(replace(turn("b"), said=turn("a").said))
    kept.delete("a")
    assert kept.item("msg_a")["content"] == [{"type": "input_text", "text": "a"}]
    kept.delete("b")
    with pytest.raises(ApiError):
        kept.item("msg_a")


def test_thoughts_take_their_room_too() -> None:
    """They are in no part of the prompt, and of any size."""
    thought = ReasoningItem("reasoning", [], encrypted_content="x" * 100_000)
    bare = turn("0")
    said = replace(bare.said, items=(*bare.said.items, Listed("rs_0", thought)))
    assert module._size(replace(bare, said=said)) >= module._size(bare) + 100_000


def test_tenants_do_not_find_one_anothers() -> None:
    everybody = AllKept()
    everybody.of("a").add(turn("x"))
    assert everybody.of("a").get("x") is not None
    assert everybody.of("b").get("x") is None


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=60))
def test_a_beginning_outlives_what_went_on_from_it(steps: list[tuple[int, bool]]) -> None:
    """Against a naive picture: no kept response has lost a part of its chain to make room."""
    one = module._size(turn("0"))
    kept = Kept(budget=8 * one)
    names: list[str] = []
    for number, (pick, ask) in enumerate(steps):
        alive = [name for name in names if kept.get(name)]
        previous = alive[pick % len(alive)] if alive and pick else None
        if ask and previous is not None:
            kept.chain(previous)
            continue
        name = str(number)
        kept.add(turn(name, previous, size=100))
        names.append(name)
        alive = [name for name in names if kept.get(name)]
        assert len(alive) <= 8
        for each in alive:
            kept_turn = kept.get(each)
            assert kept_turn is not None
            assert kept_turn.previous is None or kept.get(kept_turn.previous) is not None
