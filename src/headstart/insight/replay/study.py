"""From a question about a recording to a report: one pass to survey it, one to replay it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from headstart.insight.replay.bound import Bound
from headstart.insight.replay.capacity import Capacity
from headstart.insight.replay.fleet import Fleet
from headstart.insight.replay.lines import Moved, TraceError, nobody
from headstart.insight.replay.money import Bills, Money, Offer
from headstart.insight.replay.pool import Setup
from headstart.insight.replay.replay import Outcome, run
from headstart.insight.replay.report import Facts, Point, Report
from headstart.insight.replay.request import Request
from headstart.insight.replay.source import Trace


@dataclass(frozen=True, slots=True)
class Question:
    """What to replay. Sizes are of one replica."""

    policies: Sequence[str]
    capacities: Sequence[Capacity]
    index: str = "radix"
    ttl: float | None = None
    whole_blocks: bool = True
    """Hits are cut down to whole blocks; else to the token, as `headstart serve` does."""
    as_served: bool = False
    """Requests hold their blocks and make room for themselves; else they are instantaneous."""
    replicas: int = 1
    route: str = "prefix"
    tiers: Mapping[str, Capacity] = field(default_factory=dict)
    """A replica's own, below its pool, fastest first."""
    remote: Capacity | None = None
    """One more level, which all replicas share."""
    bound: bool = True
    """Work out the optimum and the ceiling, which takes memory for all that is different."""
    offer: Offer | None = None

    @property
    def levels(self) -> list[str]:
        """The pool and the tiers below it."""
        return ["pool", *self.tiers, *(() if self.remote is None else ("remote",))]


Begins = Callable[[str], Moved]
"""Told that a pass over the files begins, and what for."""


def study(trace: Trace, question: Question, begins: Begins = lambda _: nobody) -> Report:
    """Raises TraceError."""
    if not (question.whole_blocks or trace.tokens):
        raise TraceError(f"--reuse token needs token ids or texts; {trace.format} records blocks")
    survey, moved = _Survey(), begins("reading")
    bound = None
    if question.bound:
        size = trace.block_tokens if question.whole_blocks else 1
        bound = Bound(survey.heard(trace.named(moved, size=size if trace.tokens else 1)))
    else:
        for _ in survey.heard(trace.requests(moved)):
            pass
    fleets = _fleets(trace, question, survey, None if bound is None else bound.footprint_tokens)
    bills = [None if question.offer is None else Bills(question.offer) for _ in fleets]

    def heard(number: int, request: Request, hit: int) -> None:
        each = bills[number]
        if each is not None:
            each.add(request.prompt_tokens, hit, request.output_tokens)

    outcomes = run(trace.requests(begins("replaying")), fleets, heard)
    totals = [None if each is None else each.total() for each in bills]
    points = [
        _point(outcome, money, fleet, trace.block_tokens, bound)
        for outcome, money, fleet in zip(outcomes, totals, fleets, strict=True)
    ]
    alone = question.replicas == 1 and len(question.levels) == 1
    one_pass = alone and not question.as_served and question.ttl is None
    return Report(
        facts=survey.facts(trace, bound),
        setup=_setup(question),
        levels=question.levels,
        ceiling=None if bound is None else bound.ceiling,
        points=points,
        curves=[] if bound is None else bound.curves(one_pass=one_pass),
        notes=[*trace.notes, *_notes(question)],
        findings=_findings(trace, outcomes, bound),
    )


class _Survey:
    """Counts a stream that goes by."""

    def __init__(self) -> None:
        self.longest = 0
        """Tokens."""
        self.brought = 0
        """Tokens of all, each with one more than it has."""
        self.requests = self._prompt_tokens = self._output_tokens = 0
        self._first = self._last = 0.0

    def heard(self, requests: Iterable[Request]) -> Iterator[Request]:
        for request in requests:
            if not self.requests:
                self._first = request.time_s
            self._last = max(self._last, request.time_s)
            self.requests += 1
            self._prompt_tokens += request.prompt_tokens
            self._output_tokens += request.output_tokens
            path = len(request.blocks) + len(request.answer) + 1
            self.longest = max(self.longest, path * request.block_tokens)
            self.brought += path * request.block_tokens
            yield request

    def facts(self, trace: Trace, bound: Bound | None) -> Facts:
        return Facts(
            files=[path.name for path in trace.paths],
            format=trace.format,
            requests=self.requests,
            prompt_tokens=self._prompt_tokens,
            output_tokens=self._output_tokens,
            block_tokens=trace.block_tokens,
            footprint_tokens=None if bound is None else bound.footprint_tokens,
            span_s=self._last - self._first,
            lengths=trace.lengths,
            times=trace.times,
            order=trace.order,
        )


def _fleets(
    trace: Trace, question: Question, survey: _Survey, footprint_tokens: int | None
) -> list[Fleet]:
    block = trace.block_tokens
    size = block if trace.tokens else 1

    def setup(policy: str, capacity: Capacity) -> Setup:
        return Setup(
            policy,
            capacity.blocks(block, footprint_tokens),
            index=question.index,
            ttl=question.ttl,
            block_size=size,
            reuse_unit=size if question.whole_blocks else 1,
            brought=-(-survey.brought // block) + survey.requests,
            longest=None if question.as_served else -(-survey.longest // block) + 1,
        )

    return [
        Fleet(
            [setup(policy, each) for each in (capacity, *question.tiers.values())],
            replicas=question.replicas,
            route=question.route,
            shared=None if question.remote is None else setup(policy, question.remote),
        )
        for policy in question.policies
        for capacity in question.capacities
    ]


def _point(
    outcome: Outcome, money: Money | None, fleet: Fleet, block_tokens: int, bound: Bound | None
) -> Point:
    tokens = outcome.capacity * block_tokens
    if bound is None:
        return Point(outcome, tokens, None, None, money)
    best = bound.hit_rate(fleet.room * block_tokens)
    share = tokens / bound.footprint_tokens if bound.footprint_tokens else None
    return Point(outcome, tokens, share, best, money)


def _setup(question: Question) -> dict[str, str | int | float | None]:
    offer = question.offer
    return {
        "index": question.index,
        "ttl_s": None if question.ttl is None else float(question.ttl),
        "hits": "whole blocks" if question.whole_blocks else "to the token",
        "requests": "as served" if question.as_served else "instantaneous",
        "replicas": question.replicas,
        "route": question.route if question.replicas > 1 else None,
        "price": None if offer is None else offer.name,
        "price_source": None if offer is None else offer.source,
        "lifetime": None if offer is None else offer.lifetime,
    }


def _notes(question: Question) -> list[str]:
    notes = []
    if len(question.levels) > 1:
        notes.append(
            "Tiers: all is written through to every level, each keeps by the same policy, and"
            " bringing KV up costs nothing; a level's share is what it adds to those above."
        )
    if question.replicas > 1:
        notes.append(
            "The router knows exactly what each replica holds; requests run one after the other,"
            " and the optimum is that of one cache as large as all of them."
        )
    if question.offer is not None:
        notes.append(
            "Money is an estimate: reads cut to the vendor's unit, nothing below its minimum, and"
            " where writes have a price, all of a prompt that isn't read is written."
        )
    return notes


def _findings(trace: Trace, outcomes: Sequence[Outcome], bound: Bound | None) -> list[str]:
    findings = []
    if bound is not None and not bound.footprint_tokens:
        findings.append(f"No prompt fills a block of {trace.block_tokens} tokens.")
    elif bound is not None and not bound.ceiling:
        findings.append("No prompt begins like an earlier one: no cache helps.")
    elif not any(outcome.hit_tokens for outcome in outcomes):
        findings.append("Nothing is reused at these capacities.")
    refused = max(outcome.refused for outcome in outcomes)
    if refused:
        findings.append(f"Up to {refused:,} requests are longer than the pool and were refused.")
    return findings
