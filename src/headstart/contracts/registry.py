"""The contracts by name."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.contract import Contract
from headstart.contracts.deepseek import DeepSeek
from headstart.contracts.engine import Engine
from headstart.contracts.gemini import Gemini
from headstart.contracts.openai_breakpoints import OpenAIBreakpoints
from headstart.contracts.openai_interval import OpenAIInterval

Known = type[Anthropic | OpenAIBreakpoints | OpenAIInterval | DeepSeek | Gemini | Engine]

CONTRACTS: Mapping[str, Known] = {
    "anthropic": Anthropic,
    "openai_breakpoints": OpenAIBreakpoints,
    "openai_interval": OpenAIInterval,
    "deepseek": DeepSeek,
    "gemini": Gemini,
    "engine": Engine,
}
NUMBERS: Mapping[str, frozenset[str]] = {
    name: frozenset(field.name for field in fields(contract))
    for name, contract in CONTRACTS.items()
}


def build(name: str, **numbers: Any) -> Contract:
    """The contract `name` with a model's numbers, which are its fields.

    A row of numbers may be wider than the contract: what only others have, and None, is left out.
    Raises ValueError for a name or a number that nobody knows, and for one that is missing.
    """
    if name not in CONTRACTS:
        raise ValueError(f"no contract is called {name!r}; there are {', '.join(CONTRACTS)}")
    unknown = numbers.keys() - frozenset().union(*NUMBERS.values())
    if unknown:
        raise ValueError(f"no contract has a number called {', '.join(sorted(unknown))}")
    known = {
        number: value
        for number, value in numbers.items()
        if number in NUMBERS[name] and value is not None
    }
    try:
        return CONTRACTS[name](**known)
    except TypeError as error:
        raise ValueError(f"the contract {name} can't be built: {error}") from None
