"""Which contract goes with which name."""

from typing import Any

import pytest

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.openai_breakpoints import OpenAIBreakpoints
from headstart.contracts.openai_interval import OpenAIInterval
from headstart.contracts.prompt import Prompt
from headstart.ledger import Rules
from headstart.server.terms import AllTerms

ALIASES = (
    ("anthropic", "claude-haiku-4-5"),
    ("openai", "gpt-5.6"),
    ("openai", "gpt-4o"),
)


@pytest.fixture(scope="module")
def terms() -> AllTerms:
    return AllTerms("tiny", ALIASES, Rules.packaged())


@pytest.mark.parametrize("vendor", ["engine", "anthropic", "gemini", "deepseek"])
def test_the_servers_own_name_has_the_contract_of_who_asks(terms: AllTerms, vendor: str) -> None:
    assert terms.of("tiny", vendor).name == vendor


def test_an_alias_has_its_vendors_contract_whoever_asks(terms: AllTerms) -> None:
    for vendor in ("engine", "anthropic"):
        assert isinstance(terms.of("gpt-5.6", vendor).contract, OpenAIBreakpoints)
        assert isinstance(terms.of("gpt-4o", vendor).contract, OpenAIInterval)
        claude = terms.of("claude-haiku-4-5", vendor).contract
        assert isinstance(claude, Anthropic)
        assert claude.minimum == 4096  # Rule A7.


def test_a_reset_forgets_what_every_contract_believed(terms: AllTerms) -> None:
    prompt = Prompt("ann", "gpt-4o", (), list(range(2048)))
    own = terms.of("gpt-4o", "engine")
    own.contract.plan(prompt, own.entries, 0).commit(own.entries, 0)
    assert own.contract.plan(prompt, own.entries, 1).hit is not None
    terms.reset()
    assert own.contract.plan(prompt, own.entries, 1).hit is None


def test_names_are_listed_and_asked_for_like_the_models_own(start_real: Any, words: Any) -> None:
    live = start_real(aliases=ALIASES)
    client = live.client()
    assert [model.id for model in client.models.list()] == ["tiny", *(name for _, name in ALIASES)]
    answer = client.chat.completions.create(
        model="gpt-5.6", messages=words("alias", 20), max_tokens=1
    )
    assert answer.model == "gpt-5.6"
    # Of 1,023 tokens and less nothing is read and nothing written (rule O4), and that is told.
    assert answer.usage.prompt_tokens_details.cached_tokens == 0
    assert answer.usage.prompt_tokens_details.cache_write_tokens == 0
