"""When two greedy answers to one prompt agree. What may differ is counted, never just let pass."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.engine.drive import Outcome

NEAR_TIE = 1e-3
"""Top two logits this close may change places (issue 2, "done when" 3)."""

LOGPROB_TOLERANCE = NEAR_TIE / 2
"""Two logits that move by up to this change places only if they were within NEAR_TIE."""


def first_difference(ours: Sequence[int], theirs: Sequence[int]) -> int | None:
    """Where the ids part; None if they don't. Raises if one of them is shorter."""
    pairs = enumerate(zip(ours, theirs, strict=True))
    return next((at for at, (one, other) in pairs if one != other), None)


@dataclass(slots=True)
class Comparison:
    """Holds runs to the cold one and keeps count."""

    compared: int = 0
    near_ties: list[str] = field(default_factory=list)
    largest_logprob_difference: float = 0.0

    def hold(self, cold: Outcome, other: Outcome, what: str) -> None:
        """Raises AssertionError where `other` isn't what `cold` was. `what` names the run."""
        assert cold.ids, f"{what}: an empty answer proves nothing"
        self.compared += 1
        at = first_difference(cold.ids, other.ids)
        same = len(cold.ids) if at is None else at
        for one, two in zip(cold.tokens[:same], other.tokens[:same], strict=True):
            difference = abs(one.logprob - two.logprob)
            self.largest_logprob_difference = max(self.largest_logprob_difference, difference)
            assert difference <= LOGPROB_TOLERANCE, f"{what}: log probability off by {difference}"
        if at is None:
            return
        margin = cold.margins[at]
        assert margin <= NEAR_TIE, (
            f"{what}: token {at} is {other.ids[at]} instead of {cold.ids[at]}, "
            f"which led by {margin}"
        )
        assert other.ids[at] == cold.tokens[at].top[1].token_id, f"{what}: not the runner-up"
        self.near_ties.append(f"{what}: token {at}, margin {margin}")


def hold_exactly(cold: Outcome, other: Outcome, what: str) -> None:
    """Ids and every reported log probability are the same bits."""
    assert cold.ids, f"{what}: an empty answer proves nothing"
    assert first_difference(cold.ids, other.ids) is None, f"{what}: other tokens"
    assert other.tokens == cold.tokens, f"{what}: other log probabilities"
    assert (other.text, other.reason) == (cold.text, cold.reason), what
