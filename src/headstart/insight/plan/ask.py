"""What a plan is made from."""

from collections.abc import Sequence
from dataclasses import dataclass

from headstart.insight.plan.figure import Assumption
from headstart.insight.plan.machine import Machine
from headstart.insight.plan.money import Offer
from headstart.insight.plan.prefill import Model
from headstart.insight.plan.reuse import Prompt
from headstart.insight.plan.served import Served
from headstart.insight.plan.trace import Curve


@dataclass(frozen=True, slots=True)
class Session:
    """Conversations of so many turns, each of which brings `step` new tokens."""

    turns: int
    step: int


@dataclass(frozen=True, slots=True)
class Ask:
    """Everything that a plan depends on."""

    model: Model
    source: str
    """Of the model's dimensions."""
    nominal: float
    """Parameters that compute a token, as people would say them: 8e9."""
    nominal_weights: float
    """The same of all parameters; of a mixture of experts it is more."""
    weights_given: bool
    machine: Machine
    prompt: Prompt
    hit_rate: float | None
    """What someone expects or measured."""
    session: Session | None
    offer: Offer | None
    """None: the price is unknown."""
    uses: Sequence[int]
    gap: float | None
    """Seconds between two uses of a prefix."""
    served: Served | None
    curve: Curve | None
    assumptions: Sequence[Assumption]
