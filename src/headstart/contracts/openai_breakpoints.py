"""OpenAI's prompt caching from GPT-5.6 on: breakpoints, implicit and explicit.

Rules O1 to O11 and O14 to O19; docs/contracts.md has their sources and what was decided.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from headstart.contracts.contract import Contract
from headstart.contracts.diagnosis import Diagnosis, differ, end_before, first_difference
from headstart.contracts.entries import Entries
from headstart.contracts.keys import block_keys, longest_block, root, settings_digest
from headstart.contracts.openai_settings import BREAKERS, DEFAULTS, breaking, check_value
from headstart.contracts.plan import Plan, Write
from headstart.contracts.prompt import Block, Kind, Prompt, digest

RETENTIONS = ("24h",)
"""All that these models accept in the older field; it changes nothing here."""
DEVELOPER: tuple[Kind, ...] = ("system", "developer")
HONOURED: tuple[Kind, ...] = (*DEVELOPER, "user", "tool_result")
"""A breakpoint anywhere else is accepted and ignored (O19)."""

REASONS = (
    ("service_tier", "service_tier_changed"),
    ("text.format", "text_format_changed"),
    ("reasoning.effort", "reasoning_effort_changed"),
    ("text.verbosity", "verbosity_changed"),
    ("compaction", "context_compacted"),
)
"""Of a miss, by the setting that was changed, in the order they are looked at."""


@dataclass(frozen=True, slots=True)
class OpenAIBreakpoints(Contract):
    """The rules for one model."""

    minimum: int = 1024
    """Tokens of the shortest prefix that is cached (O4)."""
    marks: int = 4
    """Most that are written, the implicit one included (O5, O6)."""
    window: int = 80
    """Latest breakpoints of a request that are compared (O7)."""
    lookback: int = 20
    """Ends of earlier messages that are compared beside them, in implicit mode (O7)."""
    lifetimes: Mapping[str, float] = field(default_factory=lambda: {"30m": 1800, "12h": 43200})
    """Seconds of each; the first is the default (O11)."""

    def plan(self, prompt: Prompt, entries: Entries, now: float) -> Plan:
        """Reads the longest boundary that was written, writes the latest ones (O5 to O7)."""
        bounds = self._bounds(prompt)
        blocks = prompt.blocks
        keys = block_keys(_root(prompt), blocks, {*bounds.writes, *bounds.candidates})
        readable = {index: keys[index] for index in bounds.candidates}
        writes = (
            Write(keys[index], prompt.ends[index], ttl, self.lifetimes[ttl])
            for index, ttl in sorted(bounds.writes.items())
        )
        return Plan(
            prompt.tenant,
            prompt.tokens,
            longest_block(readable, prompt, entries, now),
            tuple(writes),
            billed=tuple(self.lifetimes),
            minimum=self.minimum,
        )

    def diagnose(self, previous: Prompt | None, current: Prompt, read: int) -> Diagnosis:
        """What `prompt_cache_diagnostics` says. `read`: tokens this request has read.

        A hit is a request that goes on from all that the earlier one left to read, and reads.
        """
        if previous is None:
            return Diagnosis("comparison_response_not_found")
        bounds = self._bounds(previous)
        reach = {*bounds.writes, *bounds.candidates}
        if not reach:
            return Diagnosis("unavailable")
        reusable = previous.ends[max(reach)]
        reason = _setting_changed(previous, current)
        if reason is not None:
            return Diagnosis("cache_miss", reason, reusable, reusable)
        index = first_difference(previous.blocks, current.blocks)
        kept = reusable if index is None else end_before(previous, index)
        tools = _tools(previous) != _tools(current)
        if tools or kept < reusable:
            missed = max(0, reusable - kept)
            reason = "tools_changed" if tools else "input_changed"
            return Diagnosis("cache_miss", reason, missed, reusable)
        if differ(previous, current, BREAKERS, DEFAULTS) or not read:
            return Diagnosis("unavailable")
        return Diagnosis("cache_hit")

    def _bounds(self, prompt: Prompt) -> "_Bounds":
        marked = self._marked(prompt)
        latest = list(marked)
        writes = _last(latest, self.marks)
        candidates = set(_last(latest, self.window))
        if prompt.wishes.mode != "explicit":
            ends = list(islice(_message_ends(prompt.blocks), self.lookback + 1))
            if ends:
                marked.setdefault(ends[0], prompt.wishes.ttl or self._default)
                writes = [*_last(latest, self.marks - 1), ends[0]]
                candidates = set(_last(sorted({*latest, ends[0]}), self.window))
                candidates |= {*ends, *_developer_end(prompt.blocks)}
        first = bisect_left(prompt.ends, self.minimum)
        return _Bounds(
            {index: marked[index] for index in writes if index >= first},
            {index for index in candidates if index >= first},
        )

    @property
    def _default(self) -> str:
        return next(iter(self.lifetimes))

    def _marked(self, prompt: Prompt) -> dict[int, str]:
        """The lifetime at each breakpoint, ascending. Raises Refusal."""
        wishes = prompt.wishes
        if wishes.ttl is not None:
            check_value(wishes.ttl, self.lifetimes, "prompt_cache_options.ttl")
        if wishes.retention is not None:
            check_value(wishes.retention, RETENTIONS, "prompt_cache_retention")
        marked = {}
        for index, block in enumerate(prompt.blocks):
            if block.mark is not None and block.kind in HONOURED and block.markable:
                ttl = block.mark.ttl or wishes.ttl or self._default
                check_value(ttl, self.lifetimes, f"{block.path}.prompt_cache_breakpoint.ttl")
                marked[index] = ttl
        return marked


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The ends of a request's prefixes that count, all of them long enough."""

    writes: Mapping[int, str]
    """The lifetime of each boundary that is written."""
    candidates: Collection[int]
    """The boundaries at which an entry is looked for."""


def _last(indices: Sequence[int], count: int) -> Sequence[int]:
    return indices[max(0, len(indices) - count) :]


def _root(prompt: Prompt) -> bytes:
    """What no two models and cache keys share."""
    return digest(
        root("openai_breakpoints", prompt.model, prompt.partition),
        settings_digest(breaking(prompt.settings), BREAKERS),
    )


def _message_ends(blocks: Sequence[Block]) -> Iterator[int]:
    """Ends of eligible messages, the latest first (O5).

    A user message; the last of tool outputs that follow one another; the last of the developer
    messages that open the conversation.
    """
    for index in range(len(blocks) - 1, -1, -1):
        block = blocks[index]
        after = blocks[index + 1] if index + 1 < len(blocks) else None
        if block.kind == "user":
            if after is None or after.kind != "user" or after.message != block.message:
                yield index
        elif block.kind == "tool_result" and (after is None or after.kind != "tool_result"):
            yield index
    yield from _developer_end(blocks)


def _developer_end(blocks: Sequence[Block]) -> list[int]:
    """The end of the developer messages that open the conversation, if there are any."""
    end = None
    for index, block in enumerate(blocks):
        if block.kind in DEVELOPER:
            end = index
        elif block.kind != "tool":
            break
    return [] if end is None else [end]


def _tools(prompt: Prompt) -> list[bytes]:
    return [block.digest for block in prompt.blocks if block.kind == "tool"]


def _setting_changed(previous: Prompt, current: Prompt) -> str | None:
    """The vendor's reason for the first change outside of tools and input."""
    if previous.model != current.model:
        return "model_changed"
    if previous.partition != current.partition:
        return "prompt_cache_key_changed"
    for name, reason in REASONS:
        if differ(previous, current, (name,), DEFAULTS):
            return reason
    return None
