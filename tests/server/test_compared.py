"""Prompts kept to be compared with: by tenant, within a bound, without what they said."""

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.diagnosis import Diagnosis
from headstart.contracts.engine import Engine
from headstart.contracts.prompt import Block, Prompt
from headstart.server.compared import Compared

NOT_FOUND = Diagnosis("previous_message_not_found")
RULES = Anthropic(1024)


def prompt(*said: bytes, tenant: str = "a") -> Prompt:
    blocks = [
        Block("user", word.ljust(16), 10 * (number + 1), number, f"messages.{number}.content.0")
        for number, word in enumerate(said)
    ]
    return Prompt(tenant, "m", blocks, range(10 * len(said)))


def test_a_prompt_that_goes_on_has_no_diagnosis_and_another_has() -> None:
    compared = Compared()
    compared.add("msg_1", prompt(b"one", b"two"))
    assert compared.diagnose(RULES, "msg_1", prompt(b"one", b"two", b"three")) is None
    assert compared.diagnose(RULES, "msg_1", prompt(b"one", b"zwei")) == Diagnosis(
        "messages_changed", missed=10
    )
    assert compared.diagnose(RULES, None, prompt(b"one")) is None


def test_a_tenant_knows_its_own_prompts_only() -> None:
    compared = Compared()
    compared.add("msg_1", prompt(b"one"))
    assert compared.diagnose(RULES, "msg_1", prompt(b"one", tenant="b")) == NOT_FOUND


def test_the_oldest_prompts_make_room_tenant_by_tenant() -> None:
    compared = Compared(most=5)
    compared.add("msg_b", prompt(b"x", tenant="b"))
    for number in range(3):
        compared.add(f"msg_{number}", prompt(b"one"))
    found = [
        compared.diagnose(RULES, f"msg_{number}", prompt(b"one")) != NOT_FOUND
        for number in range(3)
    ]
    assert found == [False, True, True]
    assert compared.diagnose(RULES, "msg_b", prompt(b"x", tenant="b")) is None


def test_a_prompt_larger_than_the_bound_is_not_kept() -> None:
    compared = Compared(most=2)
    compared.add("msg_1", prompt(b"one", b"two", b"three"))
    assert compared.diagnose(RULES, "msg_1", prompt(b"one")) == NOT_FOUND
    compared.add("msg_2", prompt(b"one"))
    assert compared.diagnose(RULES, "msg_2", prompt(b"one")) is None


def test_a_contract_without_diagnostics_has_none_to_give() -> None:
    assert Compared().diagnose(Engine(), "msg_1", prompt(b"one")) == Diagnosis("unavailable")
