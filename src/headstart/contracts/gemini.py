"""Gemini's implicit caching, and what a request reads through a `cachedContents` resource.

Rules G1 to G3 and G6 to G10; the resources themselves are in `cached_contents.py`.
docs/contracts.md has their sources and what was decided.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from headstart.contracts.contract import Contract
from headstart.contracts.entries import Entries
from headstart.contracts.keys import longest_unit, root, unit_keys
from headstart.contracts.plan import Hit, Plan, Trail, Write
from headstart.contracts.prompt import Prompt

EXPLICIT = "explicit"
"""The lifetime of what is written into a resource."""


@dataclass(frozen=True, slots=True)
class Gemini(Contract):
    """The rules for one model."""

    minimum: int
    """Tokens of the shortest prefix that is cached implicitly (G2)."""
    interval: int = 128
    """Tokens between the prefixes that are known. Ours, like the lifetime: neither is told (G3)."""
    lifetimes: Mapping[str, float] = field(default_factory=lambda: {"implicit": 300})
    """Seconds of an implicit prefix after its last use. Others are not used here."""

    def plan(self, prompt: Prompt, entries: Entries, now: float) -> Plan:
        """With a cached content all of it is read, and only it; using it doesn't extend it (G4).

        Making one is billed in full, whatever is cached of it implicitly (G9).
        """
        wishes = prompt.wishes
        if wishes.content is not None:
            key = wishes.content.encode()
            if wishes.content_seconds is None:
                return Plan(prompt.tenant, prompt.tokens, Hit(key, wishes.content_tokens))
            write = Write(key, prompt.tokens, EXPLICIT, wishes.content_seconds)
            return Plan(prompt.tenant, prompt.tokens, writes=(write,), billed=(EXPLICIT,))
        keys = unit_keys(root("gemini", prompt.model), prompt.ids, self.interval, self.minimum)
        return Plan(
            prompt.tenant,
            prompt.tokens,
            longest_unit(keys, prompt, entries, now, unit=self.interval, minimum=self.minimum),
            trail=Trail(keys, self.lifetimes["implicit"]),
            minimum=self.minimum,
        )
