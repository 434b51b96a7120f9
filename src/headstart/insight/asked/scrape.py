"""Totals from what Prometheus scrapes of vLLM, SGLang and headstart: tokens asked for and cached.

Counters count from the server's start; what happened between two scrapes is their difference. A
counter that fell says that the server was started anew in between.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path

from headstart.insight.asked.errors import Unreadable
from headstart.insight.lines import Lines

LONGEST = 1 << 20
_SAMPLE = re.compile(
    rb"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{.*\})?\s+([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|NaN|[-+]Inf)(?:\s|$)"
)


@dataclass(frozen=True, slots=True)
class Engine:
    """Whose metrics, and what they are called. Of several names the first that is there counts."""

    name: str
    prompt: Sequence[str]
    """Prompt tokens that were looked up."""
    cached: Sequence[str]
    """Of those, the ones that were in the cache."""
    output: Sequence[str]
    preempted: Sequence[str]
    evicted: Sequence[str]
    """Blocks or tokens; empty where nobody counts them."""
    running: Sequence[str]
    """Requests at the moment of the scrape."""
    filled: Sequence[str]
    """Share of the KV memory in use at that moment."""
    claimed: Sequence[str]
    """A hit rate that the server itself states."""


ENGINES = (
    Engine(
        "vLLM",
        ("vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries"),
        ("vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits"),
        ("vllm:generation_tokens",),
        ("vllm:num_preemptions",),
        (),
        ("vllm:num_requests_running",),
        ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
        ("vllm:gpu_prefix_cache_hit_rate", "vllm:cpu_prefix_cache_hit_rate"),
    ),
    Engine(
        "SGLang",
        ("sglang:prompt_tokens",),
        ("sglang:cached_tokens",),
        ("sglang:generation_tokens",),
        ("sglang:num_retracted_requests",),
        ("sglang:evicted_tokens",),
        ("sglang:num_running_reqs",),
        ("sglang:token_usage",),
        ("sglang:cache_hit_rate",),
    ),
    Engine(
        "headstart",
        ("headstart_prompt_tokens",),
        ("headstart_cached_tokens",),
        ("headstart_generated_tokens",),
        ("headstart_preemptions",),
        ("headstart_evicted_blocks",),
        ("headstart_running_requests",),
        (),
        (),
    ),
)
OFFLOADED = ("vllm:external_prefix_cache_hits",)
"""What a connector brought: of the tokens that vLLM's own cache hadn't."""


@dataclass(frozen=True, slots=True)
class Scrape:
    """One server's totals. None is what it doesn't tell."""

    engine: str
    prompt: int | None
    cached: int | None
    output: int | None = None
    preempted: int | None = None
    evicted: int | None = None
    running: float | None = None
    filled: float | None = None
    claimed: float | None = None
    """Its own hit rate; over which requests, nobody says."""

    @property
    def hit_rate(self) -> float | None:
        """Cached of all prompt tokens."""
        if self.prompt is None or self.cached is None or not self.prompt:
            return None
        return self.cached / self.prompt

    def since(self, before: "Scrape") -> "Scrape":
        """What happened after `before`; all of this one if the server was started anew since."""
        prompt, cached, output, preempted, evicted = rises = [
            None if now is None or then is None else now - then
            for now, then in zip(self._counters, before._counters, strict=True)
        ]
        if before.engine != self.engine or any(rise is not None and rise < 0 for rise in rises):
            return self
        return replace(
            self,
            prompt=prompt,
            cached=cached,
            output=output,
            preempted=preempted,
            evicted=evicted,
        )

    def plus(self, after: "Scrape") -> "Scrape":
        """This stretch and the one behind it."""
        prompt, cached, output, preempted, evicted = (
            None if one is None or other is None else one + other
            for one, other in zip(self._counters, after._counters, strict=True)
        )
        return replace(
            after,
            prompt=prompt,
            cached=cached,
            output=output,
            preempted=preempted,
            evicted=evicted,
        )

    @property
    def _counters(self) -> tuple[int | None, ...]:
        return (self.prompt, self.cached, self.output, self.preempted, self.evicted)


def is_scrape(first: bytes) -> bool:
    """Whether a file that begins so is in Prometheus' text format."""
    line = first.lstrip().split(b"\n", 1)[0]
    return line.startswith((b"# HELP ", b"# TYPE ")) or _SAMPLE.match(line) is not None


def read_scrape(path: Path, name: str = "") -> Scrape:
    """Raises Unreadable for what holds no metrics of an engine that is known here."""
    sums: dict[str, float] = {}
    samples: dict[str, int] = {}
    for _, line in Lines(path, error=Unreadable, longest=LONGEST, name=name or str(path)):
        found = _SAMPLE.match(line)
        if found is None:
            continue
        value = float(found[2])
        if not isfinite(value):
            continue
        metric = found[1].decode().removesuffix("_total")
        sums[metric] = sums.get(metric, 0.0) + value
        samples[metric] = samples.get(metric, 0) + 1
    for engine in ENGINES:
        names = (*engine.prompt, *engine.cached, *engine.claimed)
        if any(each in sums for each in names):
            shares = {each: sums[each] / samples[each] for each in sums}
            return _scrape(engine, sums, shares)
    raise Unreadable("no metrics of vLLM, SGLang or headstart", name or str(path))


def _scrape(engine: Engine, sums: Mapping[str, float], shares: Mapping[str, float]) -> Scrape:
    """`shares`: the means over a metric's label sets, for what can't be added up."""
    cached = _whole(sums, engine.cached)
    offloaded = _whole(sums, OFFLOADED)
    if cached is not None and engine.name == "vLLM":
        cached += offloaded or 0
    return Scrape(
        engine.name,
        _whole(sums, engine.prompt),
        cached,
        _whole(sums, engine.output),
        _whole(sums, engine.preempted),
        _whole(sums, engine.evicted),
        _first(sums, engine.running),
        _first(shares, engine.filled),
        _claim(_first(shares, engine.claimed)),
    )


def _claim(rate: float | None) -> float | None:
    """vLLM says -1 where nothing is cached."""
    return None if rate is None or not 0 <= rate <= 1 else rate


def _first(sums: Mapping[str, float], names: Sequence[str]) -> float | None:
    return next((sums[name] for name in names if name in sums), None)


def _whole(sums: Mapping[str, float], names: Sequence[str]) -> int | None:
    value = _first(sums, names)
    return None if value is None else round(value)
