"""DeepSeek's context caching on disk: automatic, in units of tokens.

Rules D1 to D6; docs/contracts.md has their sources and what was decided.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headstart.contracts.contract import Contract
from headstart.contracts.entries import Entries
from headstart.contracts.keys import first_unit, longest_unit, root, unit_keys
from headstart.contracts.plan import Plan, Trail
from headstart.contracts.prompt import Prompt


@dataclass(frozen=True, slots=True)
class DeepSeek(Contract):
    """The rules for one model. What is written costs nothing, and nothing is promised."""

    minimum: int = 64
    unit: int = 64
    lifetimes: Mapping[str, float] = field(default_factory=lambda: {"automatic": 21600})
    """Seconds after the last use; the vendor says hours to days (D5)."""

    def plan(self, prompt: Prompt, entries: Entries, now: float) -> Plan:
        """Reads the longest run of whole units that is known, writes them all (D3)."""
        keys = unit_keys(root("deepseek", prompt.model), prompt.ids, self.unit, self.minimum)
        return Plan(
            prompt.tenant,
            prompt.tokens,
            longest_unit(keys, prompt, entries, now, unit=self.unit, minimum=self.minimum),
            trail=self._trail(keys),
            unit=self.unit,
            minimum=self.minimum,
        )

    def finish(
        self, prompt: Prompt, plan: Plan, output: Sequence[int], entries: Entries, now: float
    ) -> None:
        """The answer is cached too, so that the next turn reads it (D4)."""
        known = () if plan.trail is None else plan.trail.keys
        first, done, minimum = root("deepseek", prompt.model), 0, self.minimum
        if known:
            first, minimum = known[-1], 0
            done = first_unit(self.unit, self.minimum) + (len(known) - 1) * self.unit
        more = unit_keys(first, [*prompt.ids[done:], *output], self.unit, minimum)
        self._trail([*known, *more]).commit(entries, prompt.tenant, now)

    def _trail(self, keys: Sequence[bytes]) -> Trail:
        return Trail(keys, next(iter(self.lifetimes.values())))
