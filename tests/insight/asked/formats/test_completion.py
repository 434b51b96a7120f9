import pytest

from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.formats.completion import alone, read


def test_a_text_is_one_piece() -> None:
    (piece,) = read({"prompt": "a"}).pieces
    assert (piece.kind, piece.text, piece.address) == ("user", "a", ("prompt",))
    (piece,) = read({"prompt": ["a"]}).pieces
    assert piece.address == ("prompt", 0)


def test_token_ids_are_the_prompt() -> None:
    assert read({"prompt": [1, 2, 3]}).tokens == [1, 2, 3]
    assert read({"prompt": [[1, 2]]}).tokens == [1, 2]


def test_several_prompts_are_several_bodies() -> None:
    body = {"model": "m", "prompt": ["a", "b"]}
    assert [each["prompt"] for each in alone(body)] == ["a", "b"]
    assert list(alone({"prompt": [1, 2]})) == [{"prompt": [1, 2]}]


@pytest.mark.parametrize("prompt", [None, 3, {}, [1, "a"], [1.5], [True], [-1], [1 << 32]])
def test_other_prompts_cannot_be_read(prompt: object) -> None:
    with pytest.raises(Unreadable, match=r"^prompt(\[0\])?: expected a text or token ids"):
        read({"prompt": prompt})
