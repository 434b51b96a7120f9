"""The sizes at which the scenarios run: in full, and `--quick` for a first look."""

from dataclasses import dataclass

from headstart.insight.bench.flops import shape_of
from headstart.insight.bench.scenarios.base import Scenario
from headstart.insight.bench.scenarios.clients import ManyClients
from headstart.insight.bench.scenarios.decode import DecodeSpeed
from headstart.insight.bench.scenarios.exact import ExactRepeat
from headstart.insight.bench.scenarios.prefix import PrefixReuse
from headstart.insight.bench.scenarios.session import AgentSession

KEYS = ("A", "B", "C", "D", "E")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user and the endpoint settle: which scenarios, how often, how big."""

    keys: tuple[str, ...]
    model: str
    quick: bool = False
    repeats: int | None = None
    """None: each scenario's own number."""
    force: int | None = None
    unshared_control: bool = True


def scenarios(choice: Choice) -> list[Scenario]:
    """The chosen scenarios in order."""
    every = _quick(choice) if choice.quick else _full(choice)
    return [scenario for scenario in every if scenario.key in choice.keys]


def _full(choice: Choice) -> tuple[Scenario, ...]:
    many, few = choice.repeats or 5, choice.repeats or 3
    return (
        PrefixReuse((1000, 2000, 4000, 7000), (50, 200), many, shape_of(choice.model)),
        AgentSession(20, 1300, 340, 40, few, choice.force),
        ManyClients(8, 6, 2000, 100, 32, few, choice.unshared_control),
        DecodeSpeed((1000, 4000), (1, 4), 96, few),
        ExactRepeat(7000, 8, many),
    )


def _quick(choice: Choice) -> tuple[Scenario, ...]:
    repeats = choice.repeats or 1
    return (
        PrefixReuse((1000, 4000), (200,), repeats, shape_of(choice.model)),
        AgentSession(5, 1300, 340, 40, repeats, choice.force),
        ManyClients(4, 2, 2000, 100, 32, repeats, choice.unshared_control),
        DecodeSpeed((1000,), (1, 4), 48, repeats),
        ExactRepeat(7000, 8, choice.repeats or 3),
    )
