"""OpenAI's breakpoints, options and keys; and the minimum of those who cache by themselves."""

from collections.abc import Iterator
from dataclasses import replace

from tests.insight.labelled.case import Case, Dialect
from tests.insight.labelled.draft import Text, says
from tests.insight.labelled.scene import (
    EXPLICIT,
    dialogue,
    fan,
    marking_scene,
    planted,
    scene,
    session,
)

from headstart.insight.causes import Cause

OPENAI: tuple[Dialect, ...] = ("chat", "responses")


def openai_mark_cases(seed: int) -> Iterator[Case]:
    """All of them, Gemini's minimum too."""
    for dialect in OPENAI:
        yield _explicit_without(seed, dialect)
        yield _six_breakpoints(seed, dialect)
        yield _far_message(seed, dialect)
        yield _early_model(seed, dialect, "breakpoint")
        yield _early_model(seed, dialect, "options")
        yield _unknown_ttl(seed, dialect)
        yield _small_with_key(seed, dialect)
    yield _twelve_hours(seed)
    yield _small_implicit(seed)


def _explicit_without(seed: int, dialect: Dialect) -> Case:
    of = marking_scene(seed, "explicit without", dialect)
    twin = session(of, 3)
    return planted(
        of,
        Cause.NO_MARKER,
        "explicit-mode",
        [draft.with_fields(**EXPLICIT) for draft in twin],
        twin,
        at="/prompt_cache_options",
        note="In explicit mode nothing is cached without a breakpoint (O6).",
    )


def _six_breakpoints(seed: int, dialect: Dialect) -> Case:
    of = marking_scene(seed, "six breakpoints", dialect)
    rules = of.system()
    drafts, twin = [], []
    for question in of.writer.several(3):
        own = [Text(of.writer.passage(40), "") for _ in range(5)]
        draft = of.draft((Text(rules, ""), *own), (says(question),), fields=EXPLICIT)
        drafts.append(draft)
        twin.append(replace(draft, system=(draft.system[0], *(Text(b.text) for b in own))))
    return planted(
        of,
        Cause.TOO_MANY_MARKERS,
        "six-breakpoints",
        drafts,
        twin,
        at=("system", 0),
        place="system",
        diverges=False,
        also={Cause.NEVER_READ, Cause.MARKER_AFTER_VOLATILE},
        note="Only the latest four are written, so the one that is shared is dropped (O6, O7).",
    )


def _far_message(seed: int, dialect: Dialect) -> Case:
    of = marking_scene(seed, "far message", dialect)
    turns = dialogue(of, 26)
    system = (Text(of.system()),)
    first, second = of.draft(system, turns[:1]), of.draft(system, turns[: 2 * 24 + 1])
    near = of.draft(system, turns[: 2 * 15 + 1])
    return planted(
        of,
        Cause.LOOKBACK,
        "24-questions-later",
        [first, second],
        [first, near],
        at=("turn", len(second.turns) - 1, 0),
        place="user",
        diverges=False,
        also={Cause.NO_MARKER},
        note="Without a breakpoint the ends of 20 earlier messages are looked at (O7).",
    )


def _small_with_key(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "small with key", dialect, model="gpt-5.4", language="en")
    drafts = fan(of, 4, system=of.system(230))
    return planted(
        of,
        Cause.BELOW_MINIMUM,
        "cache-key",
        [draft.with_fields(prompt_cache_key="desk") for draft in drafts],
        (),
        at="",
        note="A cache key says that it was meant to be cached.",
    )


def _twelve_hours(seed: int) -> Case:
    of = marking_scene(seed, "twelve hours", "responses")
    plain = session(of, 3)
    options = ({"ttl": "30m"}, {"ttl": "30m"}, {"ttl": "12h"})
    return planted(
        of,
        Cause.LIFETIME_CHANGED,
        "30m-to-12h",
        [
            draft.with_fields(prompt_cache_options=each)
            for draft, each in zip(plain, options, strict=True)
        ],
        [draft.with_fields(prompt_cache_options=options[0]) for draft in plain],
        at="/prompt_cache_options",
    )


def _early_model(seed: int, dialect: Dialect, name: str) -> Case:
    of = scene(seed, f"early {name}", dialect, model="gpt-5.4")
    twin = fan(of, 2)
    if name == "options":
        drafts = [draft.with_fields(prompt_cache_options={"ttl": "30m"}) for draft in twin]
        at, place = "/prompt_cache_options", None
    else:
        drafts = [draft.system_marked("") for draft in twin]
        at, place = ("system", 0), "system"
    return planted(
        of,
        Cause.MARKER_REFUSED,
        f"{name}-on-gpt-5.4",
        drafts,
        twin,
        at=at,
        place=place,
        diverges=False,
        note="Models before GPT-5.6 answer these fields with an error.",
    )


def _unknown_ttl(seed: int, dialect: Dialect) -> Case:
    of = marking_scene(seed, "unknown ttl", dialect)
    twin = fan(of, 2)
    return planted(
        of,
        Cause.MARKER_REFUSED,
        "ttl-5m",
        [draft.system_marked("5m") for draft in twin],
        twin,
        at=("system", 0),
        place="system",
        diverges=False,
        note="Anthropic's lifetimes are not OpenAI's.",
    )


def _small_implicit(seed: int) -> Case:
    of = scene(seed, "small implicit", "gemini", model="gemini-3.6-flash", language="en")
    drafts = fan(of, 4, system=of.system(1100))
    more = of.writer.rules(1500)
    return planted(
        of,
        Cause.BELOW_MINIMUM,
        "gemini-3.6-flash",
        drafts,
        [
            draft.with_fields(model="models/gemini-2.5-flash").with_system(
                lambda text: f"{text}\n\n{more}"
            )
            for draft in drafts
        ],
        at="",
        note="This model's implicit minimum is 4,096 tokens (G2).",
    )
