"""For tests of code that asks models: that its prompts keep the beginning they share.

def test_turns_only_append() -> None:
    assert_prefix_stable([body_of(turn) for turn in conversation])
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.count import Counts, counter_of
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.prompt import to_prompt
from headstart.insight.asked.read import read
from headstart.insight.asked.source import read_requests
from headstart.insight.causes import ABOUT, Cause
from headstart.insight.explain.history import History, Told
from headstart.insight.explain.place import place
from headstart.insight.explain.verdict import Verdict, judge
from headstart.insight.lint.rules import NOTES
from headstart.insight.shown import plain

Requests = Iterable[Mapping[str, Any] | Asked] | str | Path


def assert_prefix_stable(
    requests: Requests,
    *,
    allow: Collection[Cause | str] = (),
    provider: str = "",
    model: str = "",
    tokenizer: Path | None = None,
) -> None:
    """Fail where a request can't read what it has in common with an earlier one.

    `requests`: bodies in the order in which they are sent, or a recording's path. `allow`: causes
    or codes that are as they should be (`Cause.DATE`, `"HS102"`, `"date"`), besides those that are
    never more than worth knowing. `provider`, `model`: for bodies that don't say whose they are.

    Raises AssertionError with cause, place and way out of each; Unreadable for what is no request.
    """
    __tracebackhide__ = True
    allowed = {*NOTES, *map(_cause, allow)}
    counts = Counts(counter_of(tokenizer))
    history = History(lambda asked: to_prompt(asked, counts))
    broken = []
    for asked in _read(requests, Signs(provider, model=model)):
        told = history.hear(asked)
        verdict = judge(told)
        if verdict.outcome == "lost" and verdict.cause not in allowed:
            broken.append(_said(told, verdict))
    if broken:
        counted = "1 request loses" if len(broken) == 1 else f"{len(broken)} requests lose"
        head = f"{counted} what could have been read from the cache:"
        raise AssertionError("\n".join([head, *broken]))


def _cause(named: Cause | str) -> Cause:
    """By name or code. Raises ValueError for neither."""
    for cause, about in ABOUT.items():
        if named in (cause, about.code):
            return cause
    raise ValueError(f"no cause is called {named!r}: see headstart.insight.causes.Cause")


def _read(requests: Requests, signs: Signs) -> Iterable[Asked]:
    if isinstance(requests, str | Path):
        yield from read_requests([str(requests)], signs)
        return
    for number, each in enumerate(requests, 1):
        yield each if isinstance(each, Asked) else read(each, signs, Origin("request", number))


def _said(told: Told, verdict: Verdict) -> str:
    assert verdict.cause is not None, "what is lost has a cause"
    about = ABOUT[verdict.cause]
    lines: Sequence[str] = [f"{told.asked.origin}: {about.code} {verdict.cause}: {about.title}"]
    if told.earlier is not None:
        where = place(told.earlier, told.asked, told.found, told.address)
        at = f"{where.pointer or where.segment}"
        if told.found is not None:
            at += (
                f", character {where.character}: {plain(where.before)} became {plain(where.after)}"
            )
        lines = [*lines, f"  against {told.earlier.origin}, at {at}"]
    said = [f"  {verdict.said}"] if verdict.said else []
    lost = [f"  about {verdict.lost:,} tokens are not read"] if verdict.lost else []
    return "\n".join([*lines, *said, *lost, f"  {about.way_out}"])
