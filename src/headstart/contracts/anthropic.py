"""Anthropic's prompt caching: markers, and the one at the top level of the body.

Rules A1 to A18; docs/contracts.md has their sources and what was decided where there is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headstart.contracts.contract import Contract, Refusal
from headstart.contracts.diagnosis import Diagnosis, differ, end_before, first_difference
from headstart.contracts.entries import Entries
from headstart.contracts.keys import block_keys, longest_block, root, settings_digest
from headstart.contracts.plan import Plan, Write
from headstart.contracts.prompt import Block, Kind, Prompt

RUNS: tuple[Kind, ...] = ("tool_use", "tool_result")
"""A run of these is one position of the lookback (A4)."""

SYSTEM_SETTINGS = ("speed", "web_search", "citations", "format")
"""Entries that end in the tools outlive a change of these (the invalidation table)."""
MESSAGE_SETTINGS = ("tool_choice", "images", "thinking", "effort")
"""Entries that end in the tools or in the system prompt outlive a change of these."""
DEFAULTS: Mapping[str, str] = {
    "speed": '"standard"',
    "tool_choice": '{"type":"auto"}',
    "thinking": '{"type":"disabled"}',
    "effort": '"high"',
}
"""What is left out is the same as what is said to be so."""


@dataclass(frozen=True, slots=True)
class Anthropic(Contract):
    """The rules for one model."""

    minimum: int
    """Tokens of the shortest prefix that is cached (A7)."""
    lookback: int = 20
    """Positions from a marker back, itself included (A3)."""
    marks: int = 4
    """Most of one request, the automatic one included (A5)."""
    lifetimes: Mapping[str, float] = field(default_factory=lambda: {"5m": 300, "1h": 3600})
    """Seconds of each; the first is the default (A8)."""

    def plan(self, prompt: Prompt, entries: Entries, now: float) -> Plan:
        """Reads what lies within reach of a marker, writes at markers only (A2, A3)."""
        marks = self._marks(prompt)
        reach = self._reach(prompt.blocks, marks)
        keys = block_keys(
            _root(prompt), prompt.blocks, reach, _settings_between(prompt.blocks, prompt.settings)
        )
        writes = (
            Write(keys[index], end, ttl, self.lifetimes[ttl])
            for index, ttl in sorted(marks.items())
            if (end := prompt.ends[index]) >= self.minimum
        )
        return Plan(
            prompt.tenant,
            prompt.tokens,
            longest_block(keys, prompt, entries, now),
            tuple(writes),
            billed=tuple(self.lifetimes),
            minimum=self.minimum,
        )

    def diagnose(self, previous: Prompt | None, current: Prompt) -> Diagnosis | None:
        """The reason in the `diagnostics` field; None if the prompt only grew.

        The comparison is of the requests; whether the cache was hit does not matter.
        """
        if previous is None:
            return Diagnosis("previous_message_not_found")
        index = first_difference(previous.blocks, current.blocks)
        total = end_before(previous, len(previous.blocks))
        if previous.model != current.model or differ(previous, current, ("speed",), DEFAULTS):
            return Diagnosis("model_changed", missed=total)
        kept = total if index is None else end_before(previous, index)
        for level, name in ((1, "system_changed"), (0, "tools_changed")):
            if _of_level(previous.blocks, level) != _of_level(current.blocks, level):
                return Diagnosis(name, missed=total - kept)
        others = sorted((previous.settings.keys() | current.settings.keys()) - {"speed"})
        if differ(previous, current, others, DEFAULTS):
            return Diagnosis("unavailable")
        return None if index is None else Diagnosis("messages_changed", missed=total - kept)

    def _marks(self, prompt: Prompt) -> dict[int, str]:
        """The lifetime at each marked block. Raises Refusal in the order the vendor checks."""
        marks: dict[int, str] = {}
        default = next(iter(self.lifetimes))
        for index, block in enumerate(prompt.blocks):
            if block.mark is not None:
                self._check(block)
                marks[index] = block.mark.ttl or default
        automatic = prompt.wishes.automatic
        if automatic is not None and automatic.ttl is not None:
            self._check_ttl(automatic.ttl, "cache_control")
        found = len(marks) + (automatic is not None)
        if found > self.marks:
            raise Refusal(
                f"A maximum of {self.marks} blocks with cache_control may be provided. "
                f"Found {found}."
            )
        shortened = False
        for index, ttl in marks.items():
            if shortened and ttl == "1h":
                raise _disordered(f"{prompt.blocks[index].path}.cache_control.ttl")
            shortened = shortened or ttl == "5m"
        if automatic is not None:
            ttl = automatic.ttl or default
            target = _last_markable(prompt.blocks)
            there = None if target is None else marks.get(target)
            if there is not None and there != ttl:
                raise Refusal(
                    f"Top-level cache_control has ttl='{ttl}' but the target block already has "
                    f"cache_control with ttl='{there}'. When both are specified on the same "
                    "block, they must have matching TTLs.",
                    path="cache_control",
                )
            if ttl == "1h" and shortened:
                raise _disordered("cache_control")
            if target is not None:
                marks[target] = ttl
        return marks

    def _check(self, block: Block) -> None:
        """Whether a block may carry the mark it has (A14)."""
        if not block.markable:
            if block.kind == "thinking":
                path = f"{block.path}.thinking.cache_control"
                raise Refusal(f"{path}: Extra inputs are not permitted", path=path)
            path = f"{block.path}.text"
            raise Refusal(f"{path}: cache_control cannot be set for empty text blocks", path=path)
        if block.mark is not None and block.mark.ttl is not None:
            self._check_ttl(block.mark.ttl, f"{block.path}.cache_control")

    def _check_ttl(self, ttl: str, path: str) -> None:
        if ttl not in self.lifetimes:
            path += ".ephemeral.ttl"
            allowed = " or ".join(f"'{name}'" for name in self.lifetimes)
            raise Refusal(f"{path}: Input should be {allowed}", path=path)

    def _reach(self, blocks: Sequence[Block], marks: Mapping[int, str]) -> set[int]:
        """The blocks at whose end an entry is looked for."""
        reach = set()
        for mark in marks:
            positions = 0
            for index in range(mark, -1, -1):
                kind = blocks[index].kind
                same = index < mark and kind in RUNS and blocks[index + 1].kind == kind
                positions += not same
                if positions > self.lookback:
                    break
                reach.add(index)
        return reach


def _root(prompt: Prompt) -> bytes:
    """What no two models and workspaces share. An unknown setting breaks everything."""
    known = {*SYSTEM_SETTINGS, *MESSAGE_SETTINGS}
    others = [
        part for pair in sorted(prompt.settings.items()) if pair[0] not in known for part in pair
    ]
    return root("anthropic", prompt.model, prompt.partition, *others)


def _level(block: Block) -> int:
    """Of a block before the first message: 0 for tools, 1 for the system prompt; else 2."""
    return {"tool": 0, "system": 1}.get(block.kind, 2)


def _starts(blocks: Sequence[Block]) -> tuple[int, int]:
    """Where the system prompt and where the messages begin.

    A system block after the first message belongs to the messages.
    """
    system = next((i for i, block in enumerate(blocks) if _level(block) >= 1), len(blocks))
    messages = next((i for i in range(system, len(blocks)) if _level(blocks[i]) == 2), len(blocks))
    return system, messages


def _of_level(blocks: Sequence[Block], level: int) -> list[bytes]:
    """The digests of the tools (0) or of the system prompt (1)."""
    bounds = (0, *_starts(blocks))
    return [block.digest for block in blocks[bounds[level] : bounds[level + 1]]]


def _settings_between(
    blocks: Sequence[Block], settings: Mapping[str, str]
) -> dict[int, list[bytes]]:
    """What counts from the system prompt on, and what from the messages on, by block."""
    said = {name: value for name, value in settings.items() if DEFAULTS.get(name) != value}
    before: dict[int, list[bytes]] = {}
    for start, names in zip(_starts(blocks), (SYSTEM_SETTINGS, MESSAGE_SETTINGS), strict=True):
        before.setdefault(start, []).append(settings_digest(said, names))
    return before


def _last_markable(blocks: Sequence[Block]) -> int | None:
    """Where the automatic marker goes (A6)."""
    return next((i for i in range(len(blocks) - 1, -1, -1) if blocks[i].markable), None)


def _disordered(path: str) -> Refusal:
    return Refusal(
        f"{path}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control "
        "block. Note that blocks are processed in the following order: `tools`, `system`, "
        "`messages`.",
        path=path,
    )
