"""The set's requests played under the vendors' own cache rules: what each would read and write.

Blocks come from the naive reader; tokens are counted low, four bytes each where a contract cuts by
tokens. So this oracle shares the contracts with the product, and nothing with its reports.
"""

import json
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import ceil
from typing import Any

from tests.insight.labelled.case import Body, Dialect
from tests.insight.labelled.naive import Seen, pieces
from tests.insight.labelled.prose import fewest_tokens
from tests.insight.labelled.scene import LATE, MINIMUMS

from headstart.contracts import registry
from headstart.contracts.contract import Contract, Refusal
from headstart.contracts.entries import Entries
from headstart.contracts.plan import Decision
from headstart.contracts.prompt import Block, Mark, Prompt, Wishes, digest

SETTINGS: Mapping[Dialect, Mapping[str, tuple[str, ...]]] = {
    "anthropic": {
        "tool_choice": ("tool_choice",),
        "thinking": ("thinking",),
        "effort": ("output_config", "effort"),
        "speed": ("speed",),
    },
    "chat": {
        "parallel_tool_calls": ("parallel_tool_calls",),
        "text.format": ("response_format",),
        "reasoning.effort": ("reasoning_effort",),
        "text.verbosity": ("verbosity",),
        "service_tier": ("service_tier",),
    },
    "responses": {
        "parallel_tool_calls": ("parallel_tool_calls",),
        "text.format": ("text", "format"),
        "reasoning.effort": ("reasoning", "effort"),
        "text.verbosity": ("text", "verbosity"),
        "service_tier": ("service_tier",),
    },
    "gemini": {},
    "deepseek": {},
}
"""The contracts' names for settings, and where a body has them."""


def play(bodies: Sequence[Body], dialect: Dialect) -> list[Decision]:
    """In order, ten seconds apart, on a cache that forgets nothing. Raises Refusal."""
    stores: dict[str, tuple[Contract, Entries]] = {}
    return [_answer(body, dialect, stores, 10.0 * number) for number, body in enumerate(bodies)]


def refuses(body: Body, dialect: Dialect) -> bool:
    """Whether the vendor's contract turns the request away."""
    try:
        play([body], dialect)
    except Refusal:
        return True
    return False


def tokens(body: Body, dialect: Dialect) -> float:
    """At least so many."""
    return sum(fewest_tokens(piece.text) for piece in pieces(body, dialect))


def _answer(
    body: Body, dialect: Dialect, stores: dict[str, tuple[Contract, Entries]], now: float
) -> Decision:
    model = body["model"].removeprefix("models/")
    contract, entries = stores.setdefault(model, (_contract(dialect, model), Entries()))
    prompt = _prompt(body, dialect, model)
    plan = contract.plan(prompt, entries, now)
    plan.commit(entries, now)
    return plan.settle(prompt.tokens - 1)


def _contract(dialect: Dialect, model: str) -> Contract:
    minimum = MINIMUMS[dialect][model]
    if dialect in ("chat", "responses"):
        late = model.startswith(LATE)
        return registry.build("openai_breakpoints" if late else "openai_interval", minimum=minimum)
    return registry.build(dialect, minimum=minimum)


def _prompt(body: Body, dialect: Dialect, model: str) -> Prompt:
    seen = pieces(body, dialect)
    by_tokens = dialect in ("gemini", "deepseek") or (
        dialect != "anthropic" and not model.startswith(LATE)
    )
    blocks = [_block(piece) for piece in seen]
    ends = [ceil(end) for end in accumulate(fewest_tokens(piece.text) + 4 for piece in seen)]
    ids = _ids(seen) if by_tokens else array("I", [0]) * (ends[-1] + 4)
    return Prompt(
        "tenant",
        model,
        blocks,
        ids,
        partition=body.get("prompt_cache_key", ""),
        settings=_settings(body, dialect),
        wishes=_wishes(body),
        ends=ends,
    )


def _block(piece: Seen) -> Block:
    return Block(
        piece.kind,
        digest(piece.kind.encode(), piece.text.encode()),
        piece.message,
        piece.pointer,
        None if piece.mark is None else Mark(piece.mark or None),
        piece.markable,
    )


def _ids(seen: Sequence[Seen]) -> "array[int]":
    data = b"".join(f"\0{piece.kind}\0{piece.text}".encode() for piece in seen)
    return array("I", data + bytes(-len(data) % 4))


def _settings(body: Body, dialect: Dialect) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, path in SETTINGS[dialect].items():
        value: Any = body
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if value is not None:
            found[name] = json.dumps(value, separators=(",", ":"))
    return found


def _wishes(body: Body) -> Wishes:
    control = body.get("cache_control")
    options = body.get("prompt_cache_options")
    told = options or {}
    return Wishes(
        mode=told.get("mode", "implicit"),
        ttl=told.get("ttl"),
        automatic=None if control is None else Mark(control.get("ttl")),
        told=options is not None,
    )


def shared(bodies: Sequence[Body], number: int, dialect: Dialect) -> float:
    """Tokens of whole pieces that request `number` begins with, as an earlier one of its model."""
    own = pieces(bodies[number], dialect)
    best = 0.0
    for other in bodies[:number]:
        if other["model"] != bodies[number]["model"]:
            continue
        same = 0.0
        for mine, theirs in zip(own, pieces(other, dialect), strict=False):
            if (mine.kind, mine.text) != (theirs.kind, theirs.text):
                break
            same += fewest_tokens(mine.text)
        best = max(best, same)
    return best
