"""Markers that do nothing, and prompts that need one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tests.insight.labelled.case import Case, Dialect
from tests.insight.labelled.draft import Draft, Mark, Text, Thought, Turn, says
from tests.insight.labelled.plant_values import profiles
from tests.insight.labelled.scene import Scene, dialogue, fan, moved, planted, scene, session
from tests.insight.labelled.toolbox import call, result

from headstart.insight.causes import Cause

WASTED = frozenset({Cause.NEVER_READ, Cause.MARKER_AFTER_VOLATILE})
EXPLICIT = {"prompt_cache_options": {"mode": "explicit"}}
LATE: dict[Dialect, str] = {
    "anthropic": "claude-sonnet-4-5",
    "chat": "gpt-5.6-terra",
    "responses": "gpt-5.6-sol",
}
"""Dialects with markers, and a model of each that takes them."""
OPENAI: tuple[Dialect, ...] = ("chat", "responses")


def mark_cases(seed: int) -> Iterator[Case]:
    """All of them, for the dialects that have markers; minimums for Gemini too."""
    for dialect in LATE:
        yield _unmarked_fan(seed, dialect)
        yield _profile_marked(seed, dialect)
        yield _question_marked(seed, dialect)
        yield _marked_once(seed, dialect)
        yield _small_prompt(seed, dialect)
    yield _unmarked_session(seed)
    yield _five_markers(seed)
    yield _four_and_automatic(seed)
    yield _far_marker(seed, 30)
    yield _far_marker(seed, 24)
    yield _below_its_model(seed)
    yield from _refused(seed)
    yield _longer_lifetime(seed, "5m", "1h")
    yield _longer_lifetime(seed, "1h", "5m")
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


def _scene(seed: int, name: str, dialect: Dialect) -> Scene:
    return scene(seed, name, dialect, model=LATE[dialect])


def _unmarked_fan(seed: int, dialect: Dialect) -> Case:
    of = _scene(seed, "no marker fan", dialect)
    twin = fan(of, 4, tools=2)
    note = (
        "Nothing is written without a marker."
        if dialect == "anthropic"
        else "Written is only the end of each question: nobody reads that (O5, O8)."
    )
    drafts = [draft.unmarked() for draft in twin]
    return planted(of, Cause.NO_MARKER, "fan", drafts, twin, at="", note=note)


def _unmarked_session(seed: int) -> Case:
    of = _scene(seed, "no marker session", "anthropic")
    twin = session(of, 4, tools=3)
    drafts = [draft.unmarked() for draft in twin]
    return planted(of, Cause.NO_MARKER, "session", drafts, twin, at="")


def _explicit_without(seed: int, dialect: Dialect) -> Case:
    of = _scene(seed, "explicit without", dialect)
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


def _profile_marked(seed: int, dialect: Dialect) -> Case:
    of = _scene(seed, "profile marked", dialect)
    rules, known, questions = of.system(), profiles(of), of.writer.several(3)

    def made(on_rules: Mark, on_profile: Mark) -> list[Draft]:
        return [
            of.draft(
                (Text(rules, on_rules), Text(profile, on_profile)),
                (says(question),),
                fields={} if dialect == "anthropic" else EXPLICIT,
            )
            for profile, question in zip(known, questions, strict=True)
        ]

    return planted(
        of,
        Cause.MARKER_AFTER_VOLATILE,
        "behind-the-profile",
        made(None, ""),
        made("", None),
        at=("system", 1),
        place="system",
        evidence=known,
        also=WASTED | {Cause.NO_MARKER},
    )


def _question_marked(seed: int, dialect: Dialect) -> Case:
    of = _scene(seed, "question marked", dialect)
    rules, questions = of.system(), of.writer.several(4)
    fields = {} if dialect == "anthropic" else EXPLICIT

    def made(on_rules: Mark, on_question: Mark) -> list[Draft]:
        return [
            of.draft((Text(rules, on_rules),), (says(question, on_question),), fields=fields)
            for question in questions
        ]

    return planted(
        of,
        Cause.MARKER_AFTER_VOLATILE,
        "behind-the-question",
        made(None, ""),
        made("", None),
        at=("turn", 0, 0),
        place="user",
        evidence=questions,
        also=WASTED | {Cause.NO_MARKER},
        note="Each conversation has one turn, and the only marker stands behind its question.",
    )


def _marked_once(seed: int, dialect: Dialect) -> Case:
    """Different documents, each with one question."""
    of = _scene(seed, "marked once", dialect)
    head = of.writer.passage(20)
    fields = {} if dialect == "anthropic" else EXPLICIT
    documents = [of.writer.documents(1, of.enough + 400)[0] for _ in range(4)]

    def made(mark: Mark) -> list[Draft]:
        return [
            of.draft(
                (Text(head),),
                (Turn("user", (Text(document, mark), Text(question))),),
                fields=fields if mark is not None else {},
            )
            for document, question in zip(documents, of.writer.several(4), strict=True)
        ]

    return planted(
        of,
        Cause.NEVER_READ,
        "one-shot-documents",
        made(""),
        (),
        at=("turn", 0, 0),
        place="user",
        evidence=documents,
        also={Cause.MARKER_AFTER_VOLATILE},
        note="Nobody asks a second question about any of these documents.",
    )


def _five_markers(seed: int) -> Case:
    of = _scene(seed, "five markers", "anthropic")
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
    of = _scene(seed, "four and automatic", "anthropic")
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


def _six_breakpoints(seed: int, dialect: Dialect) -> Case:
    of = _scene(seed, "six breakpoints", dialect)
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
        also=WASTED,
        note="Only the latest four are written, so the one that is shared is dropped (O6, O7).",
    )


def _far_marker(seed: int, positions: int) -> Case:
    """Between two requests the conversation grows by more than a marker looks back."""
    of = _scene(seed, f"far marker {positions}", "anthropic")
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


def _far_message(seed: int, dialect: Dialect) -> Case:
    of = _scene(seed, "far message", dialect)
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


def _small_prompt(seed: int, dialect: Dialect) -> Case:
    of = _scene(seed, "small prompt", dialect)
    drafts = fan(of, 3, system=of.system(80))
    return planted(
        of,
        Cause.BELOW_MINIMUM,
        "marked",
        drafts,
        (),
        at=("system", 0),
        place="system",
        diverges=False,
        note="Marked, and far shorter than 1,024 tokens.",
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


def _refused(seed: int) -> Iterator[Case]:
    """What Anthropic answers with an error (A9, A6, A14)."""
    of = _scene(seed, "refused", "anthropic")
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
    of = _scene(seed, f"lifetime {before}", "anthropic")
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


def _twelve_hours(seed: int) -> Case:
    of = _scene(seed, "twelve hours", "responses")
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
    of = _scene(seed, "unknown ttl", dialect)
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
