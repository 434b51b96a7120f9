"""Random conversations, marks, edits, times and evictions, beside an oracle that is slow and plain.

The clock goes on as it likes: some requests begin to answer only after others have come.
"""

import random
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.contracts.build import Part, part, prompt
from tests.contracts.oracle import Oracle, anthropic, openai
from tests.search import examples

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.contract import Contract, Refusal
from headstart.contracts.deepseek import DeepSeek
from headstart.contracts.engine import Engine
from headstart.contracts.entries import Entries
from headstart.contracts.gemini import Gemini
from headstart.contracts.openai_breakpoints import OpenAIBreakpoints
from headstart.contracts.openai_interval import OpenAIInterval
from headstart.contracts.plan import Plan
from headstart.contracts.prompt import Prompt

SETTINGS = settings(max_examples=examples(150))


def check_sums(plan: Plan, reused: int) -> None:
    """What holds for every vendor, whatever was cached."""
    reads = [plan.settle(count).read for count in range(0, plan.prompt + 1, 7)]
    assert reads == sorted(reads)
    decision = plan.settle(reused)
    assert decision.read <= reused
    assert min(decision.read, decision.fresh, *decision.written.values(), 1) >= 0
    assert decision.prompt == plan.prompt


@dataclass
class Asked:
    """A request under way, in both worlds."""

    prompt: Prompt
    plan: Plan
    began: float
    hit: int | None


def conversation(source: random.Random) -> list[Part]:
    """Tools, a system prompt, and turns, with tool runs and thoughts."""
    parts = [part("tool", 7, f"{source.randrange(2)}") for _ in range(source.randrange(3))]
    parts += [part("system", 11, f"{source.randrange(2)}") for _ in range(source.randrange(3))]
    return parts + turns(source, source.randrange(1, 8))


def turns(source: random.Random, most: int) -> list[Part]:
    """Up to so many messages, some of several blocks."""
    parts = []
    kinds = ("user", "user", "assistant", "tool_use", "tool_result", "thinking", "system")
    for _ in range(source.randrange(1, most + 1)):
        kind = source.choice(kinds)
        for _ in range(source.choice((1, 1, 3))):
            parts.append(
                part(
                    kind,  # type: ignore[arg-type]
                    source.choice((0, 5, 20)),
                    f"{source.randrange(3)}",
                    message=source.randrange(3) if kind == "user" else None,
                    markable=kind != "thinking",
                )
            )
    return parts


def edited(source: random.Random, parts: list[Part]) -> list[Part]:
    """Grown mostly; sometimes cut short, or changed in the middle."""
    chance = source.random()
    if chance < 0.5:
        return parts + turns(source, 3)
    if chance < 0.6:
        return parts[: source.randrange(len(parts) + 1)]
    if chance < 0.65 and parts:
        at = source.randrange(len(parts))
        return [*parts[:at], part("user", 9, "edited"), *parts[at + 1 :]]
    return parts


def marked(source: random.Random, parts: list[Part], ttls: tuple[str, ...]) -> list[Part]:
    """Some marks anywhere, and often one near the end."""
    chosen = {source.randrange(len(parts)) for _ in range(source.randrange(4)) if parts}
    if parts and source.random() < 0.6:
        chosen.add(len(parts) - 1)
    return [
        part(
            p.kind,
            p.tokens,
            p.text,
            mark=index in chosen and p.markable and source.choice((True, *ttls)),
            message=p.message,
            markable=p.markable,
        )
        for index, p in enumerate(parts)
    ]


def wishes(source: random.Random, name: str) -> dict[str, Any]:
    """What else a request may say."""
    if name == "anthropic":
        spoken: dict[str, Any] = {
            "settings": source.choice([{}, {}, {"effort": "low"}, {"speed": "fast"}])
        }
        if source.random() < 0.4:
            spoken["automatic"] = source.choice((True, "5m", "1h"))
        return spoken
    return {
        "settings": source.choice([{}, {}, {}, {"text.format": "json"}, {"tool_choice": "none"}]),
        "mode": source.choice(("implicit", "explicit")),
        "ttl": source.choice((None, "30m", "12h")),
    }


def replay(seed: int, name: str, contract: Contract, oracle: Oracle, ttls: tuple[str, ...]) -> None:
    source = random.Random(seed)
    entries = Entries()
    talks = [conversation(source) for _ in range(2)]
    waiting: list[Asked] = []
    now = 0.0
    for _ in range(25):
        now += source.choice((0.0, 1.0, 50.0, 100.0, 200.0, 250.0, 299.0, 300.0, 3300.0))
        which = source.randrange(len(talks))
        talks[which] = edited(source, talks[which])[:40]
        asked = prompt(
            *marked(source, talks[which], ttls),
            tenant=source.choice(("acme",) * 7 + ("globex",)),
            model=source.choice(("m",) * 7 + ("n",)),
            partition=source.choice(("",) * 7 + ("p",)),
            **wishes(source, name),
        )
        try:
            plan = contract.plan(asked, entries, now)
        except Refusal:
            continue
        hit = oracle.readable(asked, now)
        assert (plan.hit and plan.hit.end) == (None if hit is None else asked.ends[hit])
        reused = source.choice((asked.tokens - 1, asked.tokens - 1, source.randrange(asked.tokens)))
        check_sums(plan, reused)
        decision = plan.settle(reused)
        read, written = oracle.bill(asked, now, reused)
        assert decision.read == read
        assert {
            lifetimes_of(contract)[ttl]: n for ttl, n in decision.written.items() if n
        } == written
        waiting.append(Asked(asked, plan, now, hit))
        while waiting and source.random() < 0.8:
            begun = waiting.pop(0)
            begun.plan.commit(entries, begun.began)
            oracle.begin(begun.prompt, begun.began, begun.hit)


def lifetimes_of(contract: Contract) -> Any:
    assert isinstance(contract, Anthropic | OpenAIBreakpoints)
    return contract.lifetimes


@given(seed=st.integers(0, 2**32), lookback=st.integers(1, 6), minimum=st.sampled_from((1, 20, 60)))
@SETTINGS
@pytest.mark.slow
def test_anthropics_reads_and_writes_are_the_oracles(
    seed: int, lookback: int, minimum: int
) -> None:
    contract = Anthropic(minimum=minimum, lookback=lookback)
    replay(seed, "anthropic", contract, anthropic(contract), ("5m", "1h"))


@given(seed=st.integers(0, 2**32), window=st.integers(1, 6), lookback=st.integers(0, 3))
@example(seed=1_095_662_948, window=1, lookback=0)  # Four marks, the first at the implicit end.
@SETTINGS
@pytest.mark.slow
def test_openais_reads_and_writes_are_the_oracles(seed: int, window: int, lookback: int) -> None:
    contract = OpenAIBreakpoints(
        minimum=20, window=window, lookback=lookback, lifetimes={"30m": 300, "12h": 3600}
    )
    replay(seed, "openai", contract, openai(contract), ("30m", "12h"))


def extended(source: random.Random, ids: list[int]) -> list[int]:
    """Grown mostly; sometimes cut short, or changed in the middle."""
    chance = source.random()
    if chance < 0.6:
        return ids + source.choices(range(3), k=source.randrange(1, 30))
    if chance < 0.8:
        return ids[: source.randrange(1, len(ids) + 1)]
    at = source.randrange(len(ids))
    return [*ids[:at], 9, *ids[at + 1 :]]


LIFE = 300.0
AUTOMATIC: dict[str, tuple[Contract, int, bool]] = {
    "openai_interval": (OpenAIInterval(minimum=16, unit=4, lifetimes={"24h": LIFE}), 16, True),
    "deepseek": (DeepSeek(minimum=4, unit=4, lifetimes={"automatic": LIFE}), 4, True),
    "gemini": (Gemini(minimum=10, interval=4, lifetimes={"implicit": LIFE}), 10, False),
}
"""Each, its minimum, and whether what the engine reused is cut down to whole units of 4."""


@pytest.mark.parametrize("name", AUTOMATIC)
@given(seed=st.integers(0, 2**32))
@SETTINGS
@pytest.mark.slow
def test_an_automatic_contract_reads_the_longest_whole_units_that_live(
    name: str, seed: int
) -> None:
    contract, minimum, floored = AUTOMATIC[name]
    unit = 4
    entries = Entries()
    source = random.Random(seed)
    seen: list[tuple[str, str, list[int], float]] = []
    ids = source.choices(range(3), k=20)
    now = 0.0
    for _ in range(25):
        now += source.choice((0.0, 1.0, 100.0, 299.0, 300.0, 301.0))
        ids = extended(source, ids)
        asked = prompt(
            ids=ids,
            tenant=source.choice(("acme", "acme", "globex")),
            model=source.choice(("m", "m", "n")),
        )
        scope = (asked.tenant, asked.model)
        longest = 0
        for length in range(unit, len(ids) + 1, unit):
            alive = any(
                scope == (tenant, model)
                and len(known) >= length
                and known[:length] == ids[:length]
                and now < expires
                for tenant, model, known, expires in seen
            )
            longest = length if alive and length >= minimum else longest
        plan = contract.plan(asked, entries, now)
        reused = source.choice((len(ids) - 1, source.randrange(len(ids))))
        check_sums(plan, reused)
        read = min(longest, reused)
        read -= read % unit if floored else 0
        assert plan.settle(reused).read == (read if read >= minimum else 0)
        plan.commit(entries, now)
        seen.append((*scope, ids, now + LIFE))
        if source.random() < 0.5:
            output = source.choices(range(3), k=source.randrange(12))
            contract.finish(asked, plan, output, entries, now)
            if name == "deepseek":
                seen.append((*scope, [*ids, *output], now + LIFE))
            if source.random() < 0.7:
                ids = [*ids, *output]


@given(tokens=st.integers(1, 500), reused=st.integers(0, 500))
def test_the_engines_own_contract_reads_what_was_reused(tokens: int, reused: int) -> None:
    plan = Engine().plan(prompt(ids=[0] * tokens), Entries(), 0.0)
    check_sums(plan, min(reused, tokens))
    assert plan.settle(min(reused, tokens)).read == min(reused, tokens)
