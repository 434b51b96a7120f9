"""An endpoint as a dict of prompts: words are tokens, time is a number, every rule is a flag.

It is what scripts are checked against: what it keeps and for how long is known, not measured.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from headstart.insight.probe.cost import Budget, Purse
from headstart.insight.probe.drive import drive
from headstart.insight.probe.endpoint import Clock
from headstart.insight.probe.script import Call, Prompt, Reply, Script, Usage

T = TypeVar("T")


@dataclass
class Doc:
    words: list[str]
    written: float
    used: float
    uses: int = 1


@dataclass
class Oracle:
    """How it behaves, and what it holds."""

    caches: bool = True
    counts: bool = True
    """False: no word of cached tokens."""
    lies: int | None = None
    """Counted as cached instead of the truth."""
    capacity: int | None = None
    """Words of all prompts together."""
    least: int = 0
    """Words of a prompt below which it is neither kept nor read."""
    policy: str = "lru"
    unlucky: int = 0
    """So many times the newest goes first, whatever the policy."""
    ttl: float | None = None
    sliding: bool = True
    walls: bool = True
    """Another key reads nothing of what the first one wrote."""
    replicas: int = 1
    """Asked in turn, without a look at what they hold."""
    overhead: float = 0.05
    per_word: float = 0.001
    noise: Callable[[], float] = lambda: 1.0
    """Times the time it takes."""
    gateway: Callable[[Prompt], Prompt] = lambda prompt: prompt
    now: float = 0.0
    asked: list[Prompt] = field(default_factory=list)
    held: list[list[Doc]] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(0))

    def ask(self, call: Call) -> Reply:
        prompt = call.prompt
        self.asked.append(prompt)
        prompt = self.gateway(prompt)
        words = [
            f"<{self.walls and call.other}>",
            *prompt.first.split(),
            "<user>",
            *prompt.last.split(),
        ]
        self.held = self.held or [[] for _ in range(self.replicas)]
        held = self.held[len(self.asked) % self.replicas]
        self._expire(held)
        kept = self.caches and len(words) >= self.least
        cached = self._read(held, words) if kept else 0
        if kept:
            self._write(held, words)
        sent = self.now
        ttft = (self.overhead + self.per_word * (len(words) - cached)) * self.noise()
        self.now += ttft
        told = (cached if self.lies is None else self.lies) if self.counts else None
        return Reply(sent, ttft, Usage(len(words), told, None, 1))

    def _read(self, held: list[Doc], words: list[str]) -> int:
        best, doc = max(
            ((_same(each.words, words), each) for each in held),
            default=(0, None),
            key=lambda found: found[0],
        )
        # A few words that two texts happen to begin with are no use of the other one.
        if doc is not None and best > len(doc.words) / 2:
            doc.used, doc.uses = self.now, doc.uses + 1
            held.append(held.pop(held.index(doc)))
        return min(best, len(words) - 1)

    def _write(self, held: list[Doc], words: list[str]) -> None:
        if any(each.words == words for each in held):
            return
        while (
            self.capacity is not None
            and held
            and sum(len(each.words) for each in held) + len(words) > self.capacity
        ):
            held.pop(self._victim(held))
        held.append(Doc(words, self.now, self.now))

    def _victim(self, held: list[Doc]) -> int:
        if self.unlucky:
            self.unlucky -= 1
            return len(held) - 1
        order = {
            "lru": lambda at: at,
            "mru": lambda at: -at,
            "fifo": lambda at: held[at].written,
            "lfu": lambda at: (held[at].uses, at),
            "random": lambda at: self.chance.random(),
        }[self.policy]
        return min(range(len(held)), key=order)

    def _expire(self, held: list[Doc]) -> None:
        if self.ttl is not None:
            since = (lambda doc: doc.used) if self.sliding else (lambda doc: doc.written)
            held[:] = [doc for doc in held if self.now - since(doc) < self.ttl]

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def wall(self) -> str:
        """The time of day, for prompts."""
        return f"12:00:{self.now + 1e-6 * len(self.asked):.6f}"


def _same(one: list[str], other: list[str]) -> int:
    for at, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return at
    return min(len(one), len(other))


class Nobody:
    """A watcher that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.expected = 0
        self.seen = 0

    def say(self, text: str) -> None: ...

    def tell(self, text: str) -> None:
        self.told.append(text)

    def expect(self, requests: int) -> None:
        self.expected += requests

    def advance(self, text: str) -> None:
        self.seen += 1


def run(script: Script[T], oracle: Oracle, tokens: int | None = None, **options: Any) -> T:
    """What the script finds. `tokens`: its budget."""
    clock = Clock(lambda: oracle.now, oracle.sleep, oracle.wall)
    purse = Purse(Budget(tokens, None), None, Usage(100, output=1))
    return drive(script, oracle.ask, clock, purse, Nobody(), **options)
