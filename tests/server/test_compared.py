"""Prompts kept to be compared with: by tenant, within a bound, without their tokens."""

from headstart.contracts.prompt import Block, Prompt
from headstart.dialects.chat import Part
from headstart.server.compared import Compared


def prompt(*said: bytes, tenant: str = "a") -> Prompt:
    blocks = [
        Part("user", word.ljust(16), number, f"messages.{number}.content.0", shown=(f"{word!r}",))
        for number, word in enumerate(said)
    ]
    ends = range(10, 10 * len(said) + 1, 10)
    return Prompt(tenant, "m", blocks, range(10 * len(said)), ends=ends)


def kept(compared: Compared, *answers: str, tenant: str = "a") -> list[bool]:
    return [compared.get(tenant, answer) is not None for answer in answers]


def test_a_prompt_is_kept_without_its_tokens_and_texts() -> None:
    compared = Compared()
    compared.add("msg_1", prompt(b"one", b"two"))
    found = compared.get("a", "msg_1")
    assert found is not None
    assert len(found.blocks) == 2
    assert [type(block) for block in found.blocks] == [Block, Block]
    assert (list(found.ids), list(found.ends)) == ([], [10, 20])


def test_a_tenant_knows_its_own_prompts_only() -> None:
    compared = Compared()
    compared.add("msg_1", prompt(b"one"))
    assert compared.get("b", "msg_1") is None


def test_the_oldest_prompts_make_room_tenant_by_tenant() -> None:
    compared = Compared(most=5)
    compared.add("msg_b", prompt(b"x", tenant="b"))
    for number in range(3):
        compared.add(f"msg_{number}", prompt(b"one"))
    assert kept(compared, "msg_0", "msg_1", "msg_2") == [False, True, True]
    assert kept(compared, "msg_b", tenant="b") == [True]


def test_a_prompt_larger_than_the_bound_is_not_kept() -> None:
    compared = Compared(most=2)
    compared.add("msg_1", prompt(b"one", b"two", b"three"))
    compared.add("msg_2", prompt(b"one"))
    assert kept(compared, "msg_1", "msg_2") == [False, True]


def test_what_is_forgotten_leaves_its_room() -> None:
    compared = Compared(most=4)
    compared.add("msg_1", prompt(b"one"))
    compared.forget("a", "msg_1")
    compared.forget("a", "msg_1")
    compared.add("msg_2", prompt(b"one"))
    compared.add("msg_3", prompt(b"one"))
    assert kept(compared, "msg_1", "msg_2", "msg_3") == [False, True, True]
