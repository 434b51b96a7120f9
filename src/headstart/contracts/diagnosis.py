"""Where a prompt leaves the one it is compared with: for the vendors' cache diagnostics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headstart.contracts.prompt import Block, Prompt


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is said of a comparison. `type` and `reason` are the vendor's words."""

    type: str
    reason: str | None = None
    missed: int | None = None
    """Tokens of the earlier prompt that could have been read, and were not for this reason."""
    reusable: int | None = None
    """Tokens of the earlier prompt that could have been read."""


def first_difference(previous: Sequence[Block], current: Sequence[Block]) -> int | None:
    """Index of the first block of `previous` that `current` does not go on with; None if none."""
    for index, block in enumerate(previous):
        if index >= len(current) or current[index].digest != block.digest:
            return index
    return None


def end_before(prompt: Prompt, index: int) -> int:
    """Tokens before this block."""
    return prompt.ends[index - 1] if index else 0


def differ(
    previous: Prompt, current: Prompt, names: Sequence[str], defaults: Mapping[str, str]
) -> bool:
    """Whether one of these settings was changed; one left out has its default."""
    return any(
        previous.settings.get(name, defaults.get(name))
        != current.settings.get(name, defaults.get(name))
        for name in names
    )
