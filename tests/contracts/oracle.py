"""The vendors' rules once more, slowly: whole prefixes in a list, no digests, no expiring dicts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from typing import Any

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.openai_breakpoints import OpenAIBreakpoints
from headstart.contracts.prompt import Block, Prompt

HIDDEN_FROM_SYSTEM = ("speed",)
HIDDEN_FROM_MESSAGES = ("tool_choice", "effort")
"""The settings that the generated requests change."""


@dataclass
class Written:
    """Everything that an entry is found by, spelled out, and its time."""

    identity: Any
    seconds: float
    expires: float
    tenant: str
    model: str
    partition: str


@dataclass
class Oracle:
    """`reach` and `marks` give block indices; `identity` what a prefix through a block says."""

    reach: Callable[[Prompt], set[int]]
    marks: Callable[[Prompt], dict[int, float]]
    identity: Callable[[Prompt, int], Any]
    minimum: int
    written: list[Written] = field(default_factory=list)

    def _living(self, prompt: Prompt, index: int, now: float) -> Written | None:
        said = self.identity(prompt, index)
        for entry in self.written:
            if (
                entry.identity == said
                and (entry.tenant, entry.model, entry.partition)
                == (prompt.tenant, prompt.model, prompt.partition)
                and now < entry.expires
            ):
                return entry
        return None

    def readable(self, prompt: Prompt, now: float) -> int | None:
        """The last block of the longest entry that may be read."""
        found = [i for i in self.reach(prompt) if self._living(prompt, i, now) is not None]
        return max(found, default=None)

    def boundaries(self, prompt: Prompt) -> dict[int, float]:
        """Seconds of each prefix that is to be written, by its last block."""
        return {
            index: seconds
            for index, seconds in self.marks(prompt).items()
            if prompt.ends[index] >= self.minimum
        }

    def bill(self, prompt: Prompt, now: float, reused: int) -> tuple[int, dict[float, int]]:
        """A, B and C of the vendor (A10): what is read, and what is written by seconds of life."""
        index = self.readable(prompt, now)
        read = 0 if index is None else min(prompt.ends[index], reused)
        if read < self.minimum:
            read = 0
        ends = {s: [0] for s in self.marks(prompt).values()}
        for mark, seconds in self.boundaries(prompt).items():
            ends[seconds].append(prompt.ends[mark])
        written: dict[float, int] = {}
        done = read
        for seconds in sorted(ends, reverse=True):
            last = max(*ends[seconds], done)
            if last > done:
                written[seconds] = last - done
            done = last
        return read, written

    def begin(self, prompt: Prompt, began: float, hit: int | None) -> None:
        """The response begins: entries are written, and what was used is refreshed."""
        uses = dict(self.boundaries(prompt))
        if hit is not None:
            uses.setdefault(hit, 0.0)
        for index, seconds in uses.items():
            entry = self._living(prompt, index, began)
            if entry is not None:
                entry.expires = max(entry.expires, began + entry.seconds)
            elif seconds:
                self.written.append(
                    Written(
                        self.identity(prompt, index),
                        seconds,
                        began + seconds,
                        prompt.tenant,
                        prompt.model,
                        prompt.partition,
                    )
                )


def anthropic(contract: Anthropic) -> Oracle:
    def marks(prompt: Prompt) -> dict[int, float]:
        found = {
            index: contract.lifetimes[block.mark.ttl or "5m"]
            for index, block in enumerate(prompt.blocks)
            if block.mark is not None
        }
        if prompt.wishes.automatic is not None:
            able = [index for index, block in enumerate(prompt.blocks) if block.markable]
            if able:
                found[able[-1]] = contract.lifetimes[prompt.wishes.automatic.ttl or "5m"]
        return found

    def reach(prompt: Prompt) -> set[int]:
        found: set[int] = set()
        for mark in marks(prompt):
            alone = count()
            positions = [
                [index for index, _ in group]
                for _, group in groupby(
                    enumerate(prompt.blocks[: mark + 1]),
                    key=lambda at: (
                        at[1].kind
                        if at[1].kind in ("tool_use", "tool_result")
                        else f"{next(alone)}"
                    ),
                )
            ]
            found.update(*positions[-contract.lookback :])
        return found

    def identity(prompt: Prompt, last: int) -> Any:
        before = prompt.blocks[: last + 1]
        kinds = [block.kind for block in before]
        says = [[block.digest for block in before]]
        if any(kind != "tool" for kind in kinds):
            says.append([prompt.settings.get(name, "") for name in HIDDEN_FROM_SYSTEM])
        if any(kind not in ("tool", "system") for kind in kinds):
            says.append([prompt.settings.get(name, "") for name in HIDDEN_FROM_MESSAGES])
        return says

    return Oracle(reach, marks, identity, contract.minimum)


def openai(contract: OpenAIBreakpoints) -> Oracle:
    def explicit(prompt: Prompt) -> list[int]:
        told = ("system", "developer", "user", "tool_result")
        blocks = enumerate(prompt.blocks)
        return [index for index, block in blocks if block.mark and block.kind in told]

    def developer(blocks: Sequence[Block]) -> list[int]:
        opening = [
            index
            for index in range(len(blocks))
            if all(block.kind in ("tool", "system", "developer") for block in blocks[: index + 1])
        ]
        return [index for index in opening if blocks[index].kind != "tool"][-1:]

    def ends(blocks: Sequence[Block]) -> list[int]:
        found = set(developer(blocks))
        for index, block in enumerate(blocks):
            after = blocks[index + 1 : index + 2]
            same_message = [b for b in after if b.kind == "user" and b.message == block.message]
            same_run = [b for b in after if b.kind == "tool_result"]
            if block.kind == "user" and not same_message:
                found.add(index)
            if block.kind == "tool_result" and not same_run:
                found.add(index)
        return sorted(found)

    def marks(prompt: Prompt) -> dict[int, float]:
        every = explicit(prompt)
        chosen = set(every[-contract.marks :])
        if prompt.wishes.mode != "explicit" and (last := ends(prompt.blocks)[-1:]):
            chosen = {*every[-contract.marks + 1 :], *last}

        def seconds(index: int) -> float:
            mark = prompt.blocks[index].mark if index in every else None
            return contract.lifetimes[(mark and mark.ttl) or prompt.wishes.ttl or "30m"]

        return {index: seconds(index) for index in chosen}

    def reach(prompt: Prompt) -> set[int]:
        if prompt.wishes.mode == "explicit":
            return set(explicit(prompt)[-contract.window :])
        every = ends(prompt.blocks)
        breakpoints = sorted({*explicit(prompt), *every[-1:]})
        return {
            *breakpoints[-contract.window :],
            *every[-contract.lookback - 1 :],
            *developer(prompt.blocks),
        }

    def identity(prompt: Prompt, last: int) -> Any:
        digests = [block.digest for block in prompt.blocks[: last + 1]]
        return digests, prompt.settings.get("text.format", "")

    return Oracle(reach, marks, identity, contract.minimum)
