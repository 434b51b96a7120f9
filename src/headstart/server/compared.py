"""The prompts that a later one may be compared with, for vendors' cache diagnostics."""

from array import array
from collections import OrderedDict
from dataclasses import replace
from threading import Lock

from headstart.contracts.prompt import Block, Prompt

MOST_BLOCKS = 1 << 16
"""That are kept of one tenant's prompts: some 20 MB."""


class Compared:
    """The last prompts by the ids of their answers, tenant by tenant. Any thread may ask."""

    def __init__(self, most: int = MOST_BLOCKS) -> None:
        self._most = most
        self._tenants: dict[str, OrderedDict[str, Prompt]] = {}
        self._blocks: dict[str, int] = {}
        self._lock = Lock()

    def add(self, answer: str, prompt: Prompt) -> None:
        """Keep the prompt of `answer`, without its tokens and texts; the oldest make room."""
        kept = replace(
            prompt,
            ids=(),
            blocks=[_bare(each) for each in prompt.blocks],
            ends=array("I", prompt.ends),
        )
        with self._lock:
            prompts = self._tenants.setdefault(prompt.tenant, OrderedDict())
            prompts[answer] = kept
            blocks = self._blocks.get(prompt.tenant, 0) + _size(prompt)
            while blocks > self._most:
                _, oldest = prompts.popitem(last=False)
                blocks -= _size(oldest)
            self._blocks[prompt.tenant] = blocks

    def get(self, tenant: str, answer: str) -> Prompt | None:
        """The prompt of an answer, if it is still here."""
        with self._lock:
            return self._tenants.get(tenant, OrderedDict()).get(answer)

    def forget(self, tenant: str, answer: str) -> None:
        """Nothing is compared with it any more."""
        with self._lock:
            prompt = self._tenants.get(tenant, OrderedDict()).pop(answer, None)
            if prompt is not None:
                self._blocks[tenant] -= _size(prompt)


def _bare(block: Block) -> Block:
    """What a dialect knows of it beside is left to be forgotten."""
    return Block(block.kind, block.digest, block.message, block.path, block.mark, block.markable)


def _size(prompt: Prompt) -> int:
    return len(prompt.blocks) + 1
