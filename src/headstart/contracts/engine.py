"""Our own plain truth: what was reused, to the token. No marks, no minimum, nothing written."""

from collections.abc import Sequence
from typing import ClassVar

from headstart.contracts.entries import Entries
from headstart.contracts.plan import Hit, Plan
from headstart.contracts.prompt import Prompt


class Engine:
    """For those who want no vendor's rules. Marks are accepted: every prefix is cached anyway."""

    reads_blocks: ClassVar[bool] = False

    def plan(self, prompt: Prompt, _: Entries, __: float) -> Plan:
        """Everything may be read."""
        return Plan(prompt.tenant, prompt.tokens, Hit(b"", prompt.tokens, "", 0.0))

    def finish(self, prompt: Prompt, output: Sequence[int], entries: Entries, now: float) -> None:
        """Nothing to write."""
