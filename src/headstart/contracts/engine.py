"""Our own plain truth: what was reused, to the token. No marks, no minimum, nothing written."""

from dataclasses import dataclass

from headstart.contracts.contract import Contract
from headstart.contracts.entries import Entries
from headstart.contracts.plan import Hit, Plan
from headstart.contracts.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Engine(Contract):
    """For those who want no vendor's rules. Marks are accepted: every prefix is cached anyway."""

    def plan(self, prompt: Prompt, entries: Entries, now: float) -> Plan:  # noqa: ARG002
        """Everything may be read."""
        return Plan(prompt.tenant, prompt.tokens, Hit(b"", prompt.tokens))
