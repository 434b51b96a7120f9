"""From the replies of the self-test to its report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headstart.insight.bench.stats import summary
from headstart.insight.plan.figure import Figure
from headstart.insight.probe.cost import Purse
from headstart.insight.probe.ratio import CONFIDENCE, METHOD, Ratio
from headstart.insight.probe.remarks import Remark, judge_clock, judge_wall
from headstart.insight.probe.report import Number, Part, Report, Setup
from headstart.insight.probe.script import Reply
from headstart.insight.probe.signs import Signs, possible, signs
from headstart.insight.probe.steps import Taken
from headstart.insight.probe.verdict import UNDECIDED, judge


def self_test_report(taken: Taken, setup: Setup, purse: Purse) -> Report:
    """Judge what was taken; without a whole sample nothing is decided."""
    notes = list(_notes(taken))
    if not taken.enough:
        return Report(setup, UNDECIDED, (), (spent(purse),), notes, ())
    repeated = signs(taken.repeated, taken.unseen)
    first = repeated if taken.own_clock else _signs(taken.clock_first, taken.unseen)
    last = _signs(taken.clock_last, taken.unseen)
    remarks: list[Remark] = []
    if first is not None and last is not None:
        remarks.append(judge_clock(first, last))
    parts = [_hit_rate(repeated), _repeats(repeated, taken)]
    other = _signs(taken.other_key, taken.unseen)
    if other is not None:
        remarks.append(judge_wall(other))
    if last is not None:
        shown = {"last": last} if first is None else {"first": first, "last": last}
        parts.append(_clock(shown))
    if other is not None:
        parts.append(Part("4. The same prefix under another key", _reuse("other_key", "", other)))
    return Report(
        setup,
        judge(repeated, last, own_clock=taken.own_clock),
        remarks,
        [*parts, spent(purse)],
        notes,
        list(_samples(taken)),
    )


def spent(purse: Purse) -> Part:
    """What it took."""
    numbers = [
        _number("calls", "requests", purse.calls, "", "measured"),
        _number(
            "tokens",
            "tokens, input and output",
            purse.tokens,
            "tokens",
            "measured" if purse.told else "estimated",
            "" if purse.told else "some answers didn't tell",
        ),
    ]
    if purse.dollars is not None:
        how = "by the ledger's prices and the endpoint's counts"
        numbers.append(_number("dollars", "dollars", purse.dollars, "USD", "estimated", how))
    return Part("Spent", numbers)


def _signs(samples: Sequence[Sequence[Reply]], unseen: Sequence[Reply]) -> Signs | None:
    return signs(samples, unseen) if samples else None


def _hit_rate(found: Signs) -> Part:
    told = f"{found.hits} of {found.samples} third calls"
    return Part(
        "1. Cached over input tokens",
        [
            _number("input_tokens", "input", found.input, "tokens", "measured", "third calls"),
            _number("cached_tokens", "cached", found.cached, "tokens", "measured"),
            _number("hit_rate", "hit rate by token", found.rate, "share", "derived"),
            _number("hits", "calls counted as reuse", found.hits, "", "derived", told),
        ],
    )


def _repeats(found: Signs, taken: Taken) -> Part:
    firsts, thirds = [s[0] for s in taken.repeated], [s[-1] for s in taken.repeated]
    return Part(
        f"2. The same prefix three times ({METHOD}, {CONFIDENCE:.0%})",
        [
            _ttft("ttft_first", "TTFT of the first call", firsts),
            _ttft("ttft_third", "TTFT of the third call", thirds),
            _ttft("ttft_unseen", "TTFT of an unseen prefix", taken.unseen),
            _ratio("third_to_unseen", "third to unseen", found.against_unseen),
            _ratio("third_to_first", "third to first", found.against_first),
        ],
    )


def _clock(shown: Mapping[str, Signs]) -> Part:
    numbers = []
    for place, found in shown.items():
        numbers += _reuse(f"clock_{place}", f"clock {place}: ", found)
    return Part("3. A clock moved from the first segment to the last", numbers)


def _reuse(key: str, label: str, found: Signs) -> list[Number]:
    how = f"{found.hits} of {found.samples} last calls are reuse"
    return [
        _number(
            f"{key}_hit_rate", f"{label}hit rate by token", found.rate, "share", "derived", how
        ),
        _ratio(f"{key}_to_unseen", f"{label}last to unseen", found.against_unseen),
    ]


def _ttft(key: str, label: str, replies: Sequence[Reply]) -> Number:
    found = summary(reply.ttft for reply in replies)
    figure = Figure(
        key, label, found.median, "seconds", "measured", f"median of {found.n}, and range"
    )
    return Number(figure, found.low, found.high)


def _ratio(key: str, label: str, found: Ratio) -> Number:
    figure = Figure(key, label, found.estimate, "share", "derived", "of its time, and interval")
    return Number(figure, found.low, found.high)


def _number(key: str, label: str, value: Any, unit: Any, kind: Any, how: str = "") -> Number:
    return Number(Figure(key, label, value, unit, kind, how))


def _notes(taken: Taken) -> Iterator[str]:
    if not taken.complete:
        yield "The budget ended it before all samples were taken."
    replies = [reply for _, _, _, reply in _rows(taken)]
    if not all(possible(reply.usage) for reply in replies):
        yield "Some answers count fewer than no tokens as cached, or more than the prompt has."
    background = max((reply.usage.cached or 0 for reply in taken.unseen), default=0)
    if background:
        yield (
            f"Unseen prefixes read up to {background} tokens too (a template's beginning, or a"
            " hidden prompt); reuse is what is read beyond that."
        )


def _rows(taken: Taken) -> Iterator[tuple[str, int, int, Reply]]:
    arms = {
        "repeated": taken.repeated,
        "unseen": [[reply] for reply in taken.unseen],
        "clock_first": taken.clock_first,
        "clock_last": taken.clock_last,
        "other_key": [replies[-1:] for replies in taken.other_key],
    }
    for arm, samples in arms.items():
        for number, replies in enumerate(samples, 1):
            for call, reply in enumerate(replies, 1):
                yield arm, number, call, reply


def _samples(taken: Taken) -> Iterator[Mapping[str, Any]]:
    for arm, number, call, reply in _rows(taken):
        usage = reply.usage
        yield {
            "arm": arm,
            "sample": number,
            "call": call,
            "ttft_s": reply.ttft,
            "input_tokens": usage.input,
            "cached_tokens": usage.cached,
            "written_tokens": usage.written,
            "output_tokens": usage.output,
        }
