"""What a layout holds: the parts of a prompt, before they are in anybody's format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headstart.insight.layout.segment import Segment
from headstart.insight.layout.stages import Role
from headstart.insight.layout.steady import sorted_tools


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Material:
    """Parts in the order in which they stand."""

    tools: Sequence[Mapping[str, Any]] = ()
    """Name, description and parameters of each; sorted by name, keys sorted too."""
    stable: tuple[tuple[Segment, str], ...] = ()
    """What comes before the conversation."""
    turns: tuple[Turn, ...] = ()
    asked: tuple[str, ...] = ()
    """What no later request will have in this place."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tools", sorted_tools(self.tools))

    @property
    def grows(self) -> bool:
        """Whether it is a session that has begun: another request will go on from this one."""
        return any(turn.role == "assistant" for turn in self.turns)
