import pytest
from tests.contracts.build import prompt, user

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.entries import Entries
from headstart.contracts.registry import CONTRACTS, build
from headstart.ledger.rules import Rules

NUMBERS = {"anthropic": {"minimum": 1024}, "gemini": {"minimum": 2048}}


@pytest.mark.parametrize("name", CONTRACTS)
def test_every_contract_is_built_by_name_and_answers(name: str) -> None:
    contract = build(name, **NUMBERS.get(name, {}))
    asked = prompt(user(5000))
    entries = Entries()
    plan = contract.plan(asked, entries, 0.0)
    plan.commit(entries, 0.0)
    contract.finish(asked, plan, [1, 2, 3], entries, 1.0)
    decision = contract.plan(asked, entries, 2.0).settle(4900)
    assert decision.fresh + decision.read + sum(decision.written.values()) == asked.tokens


def test_the_numbers_are_the_contracts() -> None:
    assert build("anthropic", minimum=512, lookback=7) == Anthropic(minimum=512, lookback=7)


def test_a_name_that_nobody_knows_is_told() -> None:
    with pytest.raises(ValueError, match="no contract is called 'mistral'; there are anthropic,"):
        build("mistral")


def test_a_row_of_numbers_may_be_wider_than_the_contract() -> None:
    row = {"minimum": 512, "unit": 1, "marks": None, "window": 80, "lifetimes": {"5m": 1.0}}
    assert build("anthropic", **row) == Anthropic(minimum=512, lifetimes={"5m": 1.0})


def test_every_model_of_the_ledgers_rules_has_its_contract() -> None:
    rules = Rules.packaged()
    built = set()
    for vendor in rules.vendors:
        for model in [*rules.names(vendor), "a model that nobody named"]:
            profile = rules.profile(vendor, model)
            contract = build(
                profile.contract,
                minimum=profile.minimum,
                unit=profile.unit,
                marks=profile.marks,
                lookback=profile.lookback,
                window=profile.window,
                lifetimes={name: each.seconds for name, each in profile.lifetimes.items()},
            )
            contract.plan(prompt(user(5000)), Entries(), 0.0).settle(0)
            built.add(profile.contract)
    assert built == {*CONTRACTS}


def test_a_number_that_nobody_knows_is_told() -> None:
    with pytest.raises(ValueError, match="no contract has a number called speed"):
        build("anthropic", minimum=1, speed=2)


def test_a_number_that_is_missing_is_told() -> None:
    with pytest.raises(ValueError, match="the contract anthropic can't be built"):
        build("anthropic")
