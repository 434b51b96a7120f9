"""An explanation for people in a terminal."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

Facts = dict[str, Any]

EDGE = 3
"""Blocks of a long run that are shown at either of its ends."""


def as_text(facts: Facts) -> str:
    """Without colours: it may go into a file."""
    return "\n".join([*_head(facts), *lines(facts)]) + "\n"


def title(facts: Facts) -> str:
    """What it is about, in one line."""
    earlier = facts["earlier"]
    against = "" if earlier is None else f" against {_name(earlier)}"
    return f"{_name(facts['request'])}{against}"


def headline(facts: Facts) -> str:
    """The verdict, in one line."""
    cause = facts["cause"]
    if facts["outcome"] == "nothing_lost":
        return f"Nothing lost: {facts['said']}."
    if cause is None:
        return f"Not known: {facts['said']}."
    return f"{cause['code']} {cause['title']}: {facts['said']}."


def lines(facts: Facts) -> Iterator[str]:
    """Each fact with its label, sections apart."""
    for name, rows in sections(facts):
        yield ""
        yield name
        width = max(len(label) for label, _ in rows)
        for label, said in rows:
            yield f"  {label:{width}}  {said}"


def sections(facts: Facts) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """(name, rows of label and words)."""
    place = facts["place"]
    if place is not None:
        yield "Where", list(_where(facts, place))
    cause = facts["cause"]
    if cause is not None and facts["outcome"] != "nothing_lost":
        yield "Why", [("why", cause["why"]), ("way out", cause["way_out"])]
    yield "What still hits", list(_hits(facts))
    if facts["outcome"] != "nothing_lost":
        yield "What is lost", list(_lost(facts))
    told = facts["diagnostics"]
    if told is not None:
        yield "The vendor's own diagnostics would say", [(told["field"], _told(told))]
    if facts["walk"] is not None:
        yield "The walk along the chain of block keys", list(_walk(facts["walk"]))
    if facts["triage"] is not None:
        yield "Did the cache change the output?", list(_triage(facts["triage"]))


def _head(facts: Facts) -> list[str]:
    return [title(facts), "", headline(facts)]


def _name(request: Facts) -> str:
    named = f" ({request['id']})" if request["id"] else ""
    return f"{request['file']}:{request['number']}{named}"


def _where(facts: Facts, place: Facts) -> Iterator[tuple[str, str]]:
    words = [place["segment"] if place["segment"] != "end" else "behind all of the earlier prompt"]
    if place["message"] is not None:
        words.append(f"message {place['message']}")
    if place["pointer"]:
        words.append(place["pointer"])
    if place["segment"] not in ("end", "settings"):
        words.append(f"character {place['character']}")
    yield "place", ", ".join(words)
    size = facts["hits"]["plain"]["block_size"]
    yield (
        "token",
        f"{place['token']:,}, in block {place['block']} of {size} tokens [{place['how']}]",
    )
    if place["segment"] != "end":
        yield "before", place["before"]
        yield "after", place["after"]
        yield "views", f"bytes {place['bytes']}, canonical {place['canonical']}"


def _hits(facts: Facts) -> Iterator[tuple[str, str]]:
    hits, total = facts["hits"], facts["hits"]["prompt_tokens"]
    contract, plain = hits["contract"], hits["plain"]
    how = f"[{hits['how']}]"
    if contract["refused"] is not None:
        yield contract["name"], f"refuses it: {contract['refused']}"
    else:
        written = sum(contract["written"].values())
        wrote = f", {written:,} written" if written else ""
        yield contract["name"], f"{contract['read']:,} of {total:,} tokens read{wrote} {how}"
    yield "to the token", f"{plain['tokens']:,} ({plain['reason']}) {how}"
    yield (
        f"blocks of {plain['block_size']}",
        f"{plain['aligned_tokens']:,} = {plain['block_size']} * {plain['blocks']}; "
        f"{plain['odd_tokens']} odd tokens are computed again {how}",
    )
    usage = facts["usage"]
    if usage is not None:
        yield "usage", f"{usage['read']:,} of {usage['prompt_tokens']:,} tokens read [measured]"


def _lost(facts: Facts) -> Iterator[tuple[str, str]]:
    lost = facts["lost"]
    yield "tokens", f"{lost['tokens']:,} [{lost['how']}]"
    if lost["dollars"] is None:
        yield "money", f"unknown: {lost['prices']}"
    else:
        label = "estimated" if lost["how"] == "estimated" else "derived"
        yield (
            "money",
            f"${lost['dollars']} of ${lost['prompt_dollars']} for this prompt "
            f"[{label}; {lost['prices']}, {lost['as_of']}]",
        )


def _told(told: Facts) -> str:
    if told["type"] is None:
        return "null: the prompt goes on from the earlier one"
    words = told["type"] if told["reason"] is None else f"{told['type']}: {told['reason']}"
    missed = told["missed_tokens"]
    return words if missed is None else f"{words}, {missed:,} tokens missed [{told['how']}]"


def _walk(steps: list[Facts]) -> Iterator[tuple[str, str]]:
    for _, run in groupby(steps, key=lambda step: (step["hit"], step["same_tokens"])):
        blocks = list(run)
        for step in _ends(blocks):
            if step is None:
                yield "…", f"{len(blocks) - 2 * EDGE} more like these"
                continue
            said = "HIT " if step["hit"] else "MISS"
            beside = " (the same tokens behind another prefix)" if _beside(step) else ""
            yield f"block {step['block']}", f"{said} {step['key'][:16]}{beside}"
    if not steps:
        yield "no block", "the prompt is shorter than one"


def _ends(blocks: list[Facts]) -> list[Facts | None]:
    if len(blocks) <= 2 * EDGE + 1:
        return list(blocks)
    return [*blocks[:EDGE], None, *blocks[-EDGE:]]


def _beside(step: Facts) -> bool:
    return step["same_tokens"] and not step["hit"]


def _triage(triage: Facts) -> Iterator[tuple[str, str]]:
    yield triage["cache_changed_the_output"], triage["because"]
    for said in triage["looked_at"]:
        yield "", said
