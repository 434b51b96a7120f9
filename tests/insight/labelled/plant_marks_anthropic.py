"""Anthropic's markers: none, too many, too far, refused, of another lifetime."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tests.insight.labelled.case import Case
from tests.insight.labelled.draft import Draft, Text, Thought, Turn
from tests.insight.labelled.scene import (
    dialogue,
    fan,
    marking_scene,
    moved,
    planted,
    scene,
    session,
)
from tests.insight.labelled.toolbox import call, result

from headstart.insight.causes import Cause


def anthropic_mark_cases(seed: int) -> Iterator[Case]:
    """All of them."""
    yield _unmarked_session(seed)
    yield _five_markers(seed)
    yield _four_and_automatic(seed)
    yield _far_marker(seed, 30)
    yield _far_marker(seed, 24)
    yield _below_its_model(seed)
    yield from _refused(seed)
    yield _longer_lifetime(seed, "5m", "1h")
    yield _longer_lifetime(seed, "1h", "5m")


def _unmarked_session(seed: int) -> Case:
    of = marking_scene(seed, "no marker session", "anthropic")
    twin = session(of, 4, tools=3)
    drafts = [draft.unmarked() for draft in twin]
    return planted(of, Cause.NO_MARKER, "session", drafts, twin, at="")


def _five_markers(seed: int) -> Case:
    of = marking_scene(seed, "five markers", "anthropic")
    drafts = session(of, 2, tools=3, opening=3)
    twin = list(drafts)
    for number, draft in enumerate(drafts):
        tools = tuple(replace(tool, mark="") for tool in draft.tools)
        drafts[number] = replace(draft, tools=tools)
    return planted(
        of,
        Cause.TOO_MANY_MARKERS,
        "one-on-each-tool",
        drafts,
        twin,
        at=("turn", len(drafts[-1].turns) - 1, 0),
        place="tool_result",
        diverges=False,
        also={Cause.MARKER_REFUSED},
        note="Three on tools, one on the system prompt, one on the last turn.",
    )


def _four_and_automatic(seed: int) -> Case:
    of = marking_scene(seed, "four and automatic", "anthropic")
    plain = session(of, 2, tools=2, opening=2)
    twin = [draft.with_fields(cache_control={"type": "ephemeral"}) for draft in plain]
    drafts = [
        replace(draft, tools=tuple(replace(tool, mark="") for tool in draft.tools))
        for draft in twin
    ]
    return planted(
        of,
        Cause.TOO_MANY_MARKERS,
        "four-and-automatic",
        drafts,
        twin,
        at="/cache_control",
        also={Cause.MARKER_REFUSED},
        note="The one at the top level counts, also where it changes nothing (A5, A6).",
    )


def _far_marker(seed: int, positions: int) -> Case:
    """Between two requests the conversation grows by more than a marker looks back."""
    of = marking_scene(seed, f"far marker {positions}", "anthropic")
    tools = of.tools(3)
    system = of.system()
    start = dialogue(of, 2)[:3]
    rounds: list[Turn] = []
    for _ in range(positions // 3):
        made = call(of.writer, "anthropic", tools)
        rounds.append(Turn("assistant", (Text(of.writer.answer), made)))
        rounds.append(Turn("user", (result(of.writer, made),)))
    first = moved(of.draft((Text(system),), start, tools=tools))
    second = moved(of.draft((Text(system),), (*start, *rounds), tools=tools))
    kept = replace(second, turns=(*first.turns, *second.turns[len(first.turns) :]))
    return planted(
        of,
        Cause.LOOKBACK,
        f"{positions}-positions",
        [first, second],
        [first, kept],
        at=("turn", len(second.turns) - 1, 0),
        place="tool_result",
        diverges=False,
        also={Cause.NO_MARKER},
        note="A run of results is one position, and so is a run of calls (A3, A4).",
    )


def _below_its_model(seed: int) -> Case:
    """Long enough for most models, too short for this one."""
    of = scene(seed, "below its model", "anthropic", model="claude-haiku-4-5", language="en")
    drafts = fan(of, 3, system=of.system(1150))
    return planted(
        of,
        Cause.BELOW_MINIMUM,
        "claude-haiku-4-5",
        drafts,
        [replace(draft, model="claude-sonnet-4-5") for draft in drafts],
        at=("system", 0),
        place="system",
        diverges=False,
        note="This model's minimum is 4,096 tokens, most others' is 1,024 (A7).",
    )


def _refused(seed: int) -> Iterator[Case]:
    """What Anthropic answers with an error (A9, A6, A14)."""
    of = marking_scene(seed, "refused", "anthropic")
    plain = session(of, 2, tools=2, opening=2)
    last = len(plain[-1].turns) - 1

    def case(name: str, drafts: Sequence[Draft], at: tuple[str, int, int] | str) -> Case:
        return planted(
            of,
            Cause.MARKER_REFUSED,
            name,
            drafts,
            plain,
            at=at,
            place=None if isinstance(at, str) else "user",
            diverges=False,
        )

    longer = [moved(draft, "1h") for draft in plain]
    yield case("1h-behind-5m", longer, ("turn", last, 0))
    long_system = [_marked_tools(draft.system_marked("1h"), "5m") for draft in plain]
    yield replace(case("1h-on-system-behind-5m-on-tools", long_system, "/system/0"), place="system")
    automatic = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    both = [draft.with_fields(**automatic) for draft in plain]
    yield case("automatic-1h-on-5m", both, "/cache_control")
    empty = [
        draft.with_turn(
            len(draft.turns) - 1, Turn("user", (*draft.turns[-1].marked(None).blocks, Text("", "")))
        )
        for draft in plain
    ]
    asked = [draft for draft in empty if isinstance(draft.turns[-1].blocks[0], Text)]
    yield replace(case("on-empty-text", asked or empty, ("turn", last, 1)), twin=())
    thought = Thought("They ask about one thing.", "c2lnbmF0dXJl", "")
    thinking = [
        draft.with_turn(1, replace(draft.turns[1], blocks=(thought, *draft.turns[1].blocks)))
        for draft in plain
    ]
    yield replace(case("on-thinking", thinking, ("turn", 1, 0)), place="thinking")


def _marked_tools(draft: Draft, ttl: str) -> Draft:
    *first, last = draft.tools
    return replace(draft, tools=(*first, replace(last, mark=ttl)))


def _longer_lifetime(seed: int, before: str, after: str) -> Case:
    of = marking_scene(seed, f"lifetime {before}", "anthropic")
    plain = fan(of, 3, tools=2)
    return planted(
        of,
        Cause.LIFETIME_CHANGED,
        f"{before}-to-{after}",
        [
            draft.system_marked(ttl)
            for draft, ttl in zip(plain, (before, before, after), strict=True)
        ],
        [draft.system_marked(before) for draft in plain],
        at=("system", 0),
        place="system",
        diverges=False,
    )
