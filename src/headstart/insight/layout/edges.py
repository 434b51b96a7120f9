"""Where the stable parts of a layout end, and which of these ends are worth a marker."""

import json
from dataclasses import dataclass
from functools import cache

from headstart.insight.asked.count import Estimate
from headstart.insight.layout.material import Material
from headstart.ledger.rules import Profile, Rules

BY_MARKS = ("anthropic", "openai_breakpoints")
"""Contracts that write at marks."""


def profile_of(vendor: str, model: str) -> Profile:
    """The packaged rules of a model, read once: a layout may be made for every request."""
    return _rules().profile(vendor, model)


@cache
def _rules() -> Rules:
    return Rules.packaged()


@dataclass(frozen=True, slots=True)
class Edges:
    """Which parts carry a marker."""

    texts: frozenset[int] = frozenset()
    """Of the stable texts, by index."""
    tools: bool = False
    """The last tool: where no text never changes."""
    turns: bool = False
    """The last turn."""

    def __bool__(self) -> bool:
        return bool(self.texts) or self.tools or self.turns


def edges(material: Material, profile: Profile, *, tools: bool = True) -> Edges:
    """The end of each segment, from the vendor's minimum on and at most as many as it takes.

    Tokens are an estimate. The end of the conversation is marked once there is an answer in it: of
    a first question nobody knows whether another follows, and a write that is never read costs.
    `tools`: whether the vendor takes a marker on a tool.
    """
    if profile.contract not in BY_MARKS:
        return Edges()
    count = Estimate()
    tokens = sum(count.tokens(json.dumps(tool, ensure_ascii=False)) for tool in material.tools)
    long = tokens >= profile.minimum
    on_tools = tools and long and not material.stable
    texts = []
    for index, (segment, text) in enumerate(material.stable):
        tokens += count.tokens(text)
        ends = index + 1 == len(material.stable) or material.stable[index + 1][0] != segment
        if ends and tokens >= profile.minimum:
            texts.append(index)
    tokens += sum(count.tokens(turn.text) for turn in material.turns)
    turns = material.grows and tokens >= profile.minimum
    room = (profile.marks or 0) - on_tools - turns
    return Edges(frozenset(texts[:room]), on_tools, turns)
