"""What Prometheus scrapes. Totals over all tenants, so it is the operator's to see."""

from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headstart.engine.api import Engine, EngineStats, Reuse

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
TOKEN_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 1.0, 2.5)


class Metrics:
    """The counters and histograms of one server."""

    def __init__(self, engine: Engine) -> None:
        registry = CollectorRegistry()
        registry.register(EngineCollector(engine))
        self.registry = registry
        self.requests = Counter(
            "headstart_requests",
            "Requests answered; status 499 is a client that left.",
            ("endpoint", "status"),
            registry=registry,
        )
        self.prompt_tokens = Counter(
            "headstart_prompt_tokens", "Prompt tokens of begun answers.", registry=registry
        )
        self.cached_tokens = Counter(
            "headstart_cached_tokens",
            "Of headstart_prompt_tokens, those reused from the cache, as `usage` reports them.",
            registry=registry,
        )
        self.prompts = Counter(
            "headstart_prompts",
            "Prompts of begun answers by why they reused no more.",
            ("reason",),
            registry=registry,
        )
        self.missed_tokens = Counter(
            "headstart_missed_tokens",
            "Prompt tokens that were not reused, by the reason of their prompt.",
            ("reason",),
            registry=registry,
        )
        self.account_tokens = Counter(
            "headstart_account_tokens",
            "Tokens of ended requests as their contract bills them; the ledger has the same sums.",
            ("model", "contract", "kind"),
            registry=registry,
        )
        self.account_token_seconds = Counter(
            "headstart_account_token_seconds",
            "Tokens that were stored times the seconds, as billed; the ledger has the same sums.",
            ("model", "contract"),
            registry=registry,
        )
        self.generated_tokens = Counter(
            "headstart_generated_tokens", "Tokens generated.", registry=registry
        )
        self.first_token = Histogram(
            "headstart_time_to_first_token_seconds",
            "From the request's arrival to its first token.",
            buckets=SECONDS,
            registry=registry,
        )
        self.per_token = Histogram(
            "headstart_time_per_output_token_seconds",
            "Mean time between the tokens of one choice after the first.",
            buckets=TOKEN_SECONDS,
            registry=registry,
        )
        self.duration = Histogram(
            "headstart_request_duration_seconds",
            "From a generation request's arrival to its last token.",
            buckets=SECONDS,
            registry=registry,
        )


@dataclass(slots=True)
class Timeline:
    """Feeds one generation's progress into the metrics. Times are in seconds on one clock."""

    metrics: Metrics
    arrived: float
    _first: float | None = None
    _tokens: int = 0

    @property
    def begun(self) -> bool:
        """Whether a chunk came."""
        return self._first is not None

    def chunk(self, now: float, tokens: int, reuse: Reuse) -> None:
        """A chunk came; the first one also settles the prompt's account."""
        if self._first is None:
            self._first = now
            self.metrics.first_token.observe(now - self.arrived)
            self.metrics.prompt_tokens.inc(reuse.prompt_tokens)
            self.metrics.cached_tokens.inc(reuse.cached_tokens)
        self._tokens += tokens
        self.metrics.generated_tokens.inc(tokens)

    def finished(self, now: float, choices: int) -> None:
        """The last chunk was the last. `choices` ran side by side."""
        self.metrics.duration.observe(now - self.arrived)
        following = self._tokens / choices - 1
        if self._first is not None and following > 0:
            self.metrics.per_token.observe((now - self._first) / following)


class EngineCollector(Collector):
    """Reads the engine's own counters at the moment of the scrape."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> Iterable[Metric]:
        """Gauges and counters of one snapshot."""
        stats = self._engine.stats()
        cache = stats.cache
        yield _gauge("running_requests", "Requests being computed.", stats.running)
        yield _gauge("waiting_requests", "Requests in the queue.", stats.waiting)
        yield _gauge("kv_bytes", "Memory of the KV pool.", stats.kv_bytes)
        yield _gauge("kv_capacity_tokens", "Tokens the KV pool holds.", cache.capacity_tokens)
        yield _gauge(
            "reuse_unit_tokens", "Hits are cut down to a multiple of it.", cache.reuse_unit
        )
        yield _gauge("kv_used_tokens", "In blocks that requests hold.", cache.used_tokens)
        yield _gauge(
            "kv_cached_free_tokens",
            "Reusable, held by no request.",
            cache.cached_free_tokens,
        )
        yield _counter("evicted_blocks", "Cached blocks given up.", cache.evicted_blocks)
        yield _counter("preemptions", "Requests set back to be computed again.", stats.preemptions)
        yield _counter("prefill_tokens", "Prompt tokens computed.", stats.prefill_tokens)
        yield _counter(
            "recomputed_tokens",
            "Of headstart_prefill_tokens, those computed again after a preemption.",
            stats.recomputed_tokens,
        )
        yield _counter("verified_hits", "Hits computed again.", stats.verified.hits)
        yield _counter("wrong_hits", "Of those, hits with other KV.", stats.verified.wrong)
        yield _counter(
            "kv_event_batches_dropped",
            "Batches of KV events that were never sent since too many waited.",
            stats.dropped_event_batches,
        )
        yield from _tiers(stats)
        finished = CounterMetricFamily(
            "headstart_choices_finished", "Choices by how they ended.", labels=["reason"]
        )
        for reason, count in stats.requests_finished.items():
            finished.add_metric([reason], count)
        yield finished


def _tiers(stats: EngineStats) -> Iterable[Metric]:
    size = GaugeMetricFamily("headstart_tier_bytes", "Bytes in use by tier.", labels=["tier"])
    open_ = GaugeMetricFamily(
        "headstart_tier_up", "1 while a tier is asked, 0 while it is left alone.", labels=["tier"]
    )
    loaded = CounterMetricFamily(
        "headstart_tier_loaded_tokens", "Prompt tokens brought up by tier.", labels=["tier"]
    )
    events = CounterMetricFamily(
        "headstart_tier_events", "Calls and chunks by tier and outcome.", labels=["tier", "event"]
    )
    for tier in stats.tiers:
        if tier.store.bytes is not None:
            size.add_metric([tier.name], tier.store.bytes)
        open_.add_metric([tier.name], float(tier.state == "closed"))
        loaded.add_metric([tier.name], stats.loaded_tokens.get(tier.name, 0))
        for event, count in tier.store.counts.items():
            events.add_metric([tier.name, event], count)
    for event, count in stats.tier_events.items():
        events.add_metric(["all", event], count)
    return (size, open_, loaded, events) if stats.tiers else ()


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(f"headstart_{name}", meaning, value)


def _counter(name: str, meaning: str, value: float) -> Metric:
    return CounterMetricFamily(f"headstart_{name}", meaning, value)
