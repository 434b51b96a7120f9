"""The prompts that a later one may be compared with, and the comparison."""

from dataclasses import replace

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.contract import Contract
from headstart.contracts.diagnosis import Diagnosis
from headstart.contracts.prompt import Prompt

MOST_BLOCKS = 1 << 16
"""That are kept of one tenant's prompts: some 20 MB."""


class Compared:
    """The last prompts whose answers were to be compared with, tenant by tenant."""

    def __init__(self, most: int = MOST_BLOCKS) -> None:
        self._most = most
        self._tenants: dict[str, dict[str, Prompt]] = {}
        self._blocks: dict[str, int] = {}

    def add(self, answer: str, prompt: Prompt) -> None:
        """Keep the prompt of `answer`, without its tokens; the oldest make room."""
        prompts = self._tenants.setdefault(prompt.tenant, {})
        prompts[answer] = replace(prompt, ids=())
        blocks = self._blocks.get(prompt.tenant, 0) + _size(prompt)
        while blocks > self._most:
            blocks -= _size(prompts.pop(next(iter(prompts))))
        self._blocks[prompt.tenant] = blocks

    def diagnose(self, contract: Contract, previous: str | None, now: Prompt) -> Diagnosis | None:
        """Where `now` left the prompt of the answer `previous`; None where none is named.

        Contracts without such diagnostics have none to give.
        """
        if previous is None:
            return None
        if not isinstance(contract, Anthropic):
            return Diagnosis("unavailable")
        return contract.diagnose(self._tenants.get(now.tenant, {}).get(previous), now)


def _size(prompt: Prompt) -> int:
    return len(prompt.blocks) + 1
