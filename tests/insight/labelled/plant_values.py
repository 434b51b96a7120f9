"""Values that differ from request to request, before what would have stayed the same."""

from collections.abc import Iterator
from dataclasses import replace

from tests.insight.labelled.case import DIALECTS, Case, Dialect
from tests.insight.labelled.draft import Draft, Text, says
from tests.insight.labelled.scene import LOST, Scene, fan, planted, scene, session
from tests.insight.labelled.volatile import FORMS, values

from headstart.insight.causes import Cause

NEAR: dict[Cause, frozenset[Cause]] = {
    Cause.CLOCK: frozenset({Cause.DATE}),
    Cause.DATE: frozenset(),
    Cause.IDENTIFIER: frozenset({Cause.NONCE}),
    Cause.NONCE: frozenset({Cause.IDENTIFIER}),
    Cause.COUNTER: frozenset({Cause.IDENTIFIER}),
}
"""Other names that may be said of such a value as well."""
ALONE: dict[Cause, tuple[str, ...]] = {
    Cause.CLOCK: ("iso-utc", "rfc2822", "time-only", "chinese-clock"),
    Cause.DATE: ("weekday", "iso", "chinese"),
    Cause.IDENTIFIER: ("uuid", "request-id"),
    Cause.NONCE: ("nonce", "seed"),
    Cause.COUNTER: ("turn", "request", "chinese"),
}
"""Forms that tell what they are without a second request to compare with."""
MOST = 4
"""Requests of a case."""


def value_cases(seed: int) -> Iterator[Case]:
    """All of them, for all dialects."""
    for row, dialect in enumerate(DIALECTS):
        for cause, forms in FORMS.items():
            for number, form in enumerate(forms):
                if (row + number) % 2 == 0 or form.startswith("chinese"):
                    yield _in_system(seed, dialect, cause, form, number)
            yield _in_tool(seed, dialect, cause, forms[row % len(forms)])
            yield _in_first_message(seed, dialect, cause, forms[(row + 1) % len(forms)])
            for form in ALONE[cause]:
                yield _alone(seed, dialect, cause, form)
        yield _documents_first(seed, dialect)
        yield _documents_in_block(seed, dialect)
        yield _documents_in_message(seed, dialect)
        yield _profile_first(seed, dialect)
        yield _question_first(seed, dialect)


def _in_system(seed: int, dialect: Dialect, cause: Cause, form: str, number: int) -> Case:
    where = ("top", "second", "fused")[number % 3]
    shape = ("fan", "session")[number // 2 % 2]
    name = f"{form}-{where}-{shape}"
    of = _scene(seed, f"{cause} {name}", dialect, form)
    count = of.rng.randint(3, MOST)
    tools = number % 3
    if shape == "fan":
        twin = fan(of, count, tools=tools)
    else:
        twin = session(of, count, tools=tools, opening=3)
    lines, shown = values(cause, form, of.rng, count)
    drafts = [_put(draft, line, where) for draft, line in zip(twin, lines, strict=True)]
    return planted(
        of,
        cause,
        name,
        drafts,
        twin,
        at=("system", 0),
        place="system",
        evidence=shown,
        also=LOST | NEAR[cause],
    )


def _put(draft: Draft, line: str, where: str) -> Draft:
    def change(text: str) -> str:
        opening, rest = text.split("\n\n", 1)
        match where:
            case "top":
                return f"{line}\n\n{text}"
            case "second":
                return f"{opening}\n\n{line}\n\n{rest}"
            case _:
                return f"{opening} {line}\n\n{rest}"

    return draft.with_system(change)


def _in_tool(seed: int, dialect: Dialect, cause: Cause, form: str) -> Case:
    of = _scene(seed, f"{cause} tool", dialect, form)
    twin = session(of, 3, tools=3)
    lines, shown = values(cause, form, of.rng, 3)
    at = of.rng.randrange(3)
    drafts = []
    for draft, line in zip(twin, lines, strict=True):
        tools = list(draft.tools)
        tools[at] = replace(tools[at], description=f"{tools[at].description} ({line})")
        drafts.append(replace(draft, tools=tuple(tools)))
    return planted(
        of,
        cause,
        f"in-tool-{form}",
        drafts,
        twin,
        at=("tool", at),
        place="tool",
        evidence=shown,
        also=LOST | NEAR[cause] | {Cause.TOOL_DEFINITION},
    )


def _in_first_message(seed: int, dialect: Dialect, cause: Cause, form: str) -> Case:
    """A template that renders the first message anew on each turn of the session."""
    of = _scene(seed, f"{cause} first message", dialect, form)
    twin = session(of, 3, opening=4)
    lines, shown = values(cause, form, of.rng, 3)
    drafts = [
        draft.with_turn(0, draft.turns[0].say(f"{line}\n{draft.turns[0].text}"))
        for draft, line in zip(twin, lines, strict=True)
    ]
    return planted(
        of,
        cause,
        f"in-first-message-{form}",
        drafts,
        twin,
        at=("turn", 0, 0),
        place="user",
        evidence=shown,
        also=LOST | NEAR[cause] | {Cause.HISTORY_EDITED},
        note="The first message is rendered anew on each turn.",
    )


def _alone(seed: int, dialect: Dialect, cause: Cause, form: str) -> Case:
    of = _scene(seed, f"{cause} alone {form}", dialect, form)
    twin = fan(of, 1, tools=2)
    lines, shown = values(cause, form, of.rng, 1)
    return planted(
        of,
        cause,
        f"alone-{form}",
        [_put(twin[0], lines[0], of.rng.choice(("top", "second")))],
        twin,
        at=("system", 0),
        place="system",
        evidence=shown,
        also=LOST | NEAR[cause],
        diverges=False,
        note="One request: to be told from the text alone.",
    )


def _documents_first(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "retrieval first", dialect)
    rules, documents, questions = _found(of)
    drafts = [
        of.draft((Text(f"{found}\n\n{rules}", of.edge),), (says(question),))
        for found, question in zip(documents, questions, strict=True)
    ]
    return planted(
        of,
        Cause.RETRIEVAL,
        "before-the-rules",
        drafts,
        _documents_last(of, rules, documents, questions),
        at=("system", 0),
        place="system",
        evidence=documents,
        also=LOST,
    )


def _documents_in_block(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "retrieval block", dialect)
    rules, documents, questions = _found(of)
    head = "检索到的资料：" if of.writer.language == "zh" else "Relevant context:"
    drafts = [
        of.draft((Text(f"{head}\n{found}"), Text(rules, of.edge)), (says(question),))
        for found, question in zip(documents, questions, strict=True)
    ]
    return planted(
        of,
        Cause.RETRIEVAL,
        "block-before-the-rules",
        drafts,
        _documents_last(of, rules, documents, questions),
        at=("system", 0),
        place="system",
        evidence=documents,
        also=LOST,
    )


def _documents_in_message(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "retrieval message", dialect)
    rules, documents, questions = _found(of)
    drafts = [
        of.draft((), (says(f"{found}\n\n{rules}\n\n{question}", of.edge),))
        for found, question in zip(documents, questions, strict=True)
    ]
    return planted(
        of,
        Cause.RETRIEVAL,
        "in-the-message",
        drafts,
        _documents_last(of, rules, documents, questions),
        at=("turn", 0, 0),
        place="user",
        evidence=documents,
        also=LOST,
        note="One message holds documents, rules and question, in this order.",
    )


def _found(of: Scene) -> tuple[str, list[str], list[str]]:
    """Rules, and for three questions what was looked up."""
    rules = of.system()
    documents = ["\n\n".join(of.writer.documents(3, 80)) for _ in range(3)]
    return rules, documents, of.writer.several(3)


def _documents_last(
    of: Scene, rules: str, documents: list[str], questions: list[str]
) -> list[Draft]:
    return [
        of.draft((Text(rules, of.edge),), (says(f"{found}\n\n{question}"),))
        for found, question in zip(documents, questions, strict=True)
    ]


def _profile_first(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "order profile", dialect)
    rules, known, questions = of.system(), profiles(of), of.writer.several(3)
    drafts, twin = [], []
    for profile, question in zip(known, questions, strict=True):
        turns = (says(question),)
        drafts.append(of.draft((Text(profile), Text(rules, of.edge)), turns))
        twin.append(of.draft((Text(rules, of.edge), Text(profile)), turns))
    return planted(
        of,
        Cause.ORDER,
        "profile-before-rules",
        drafts,
        twin,
        at=("system", 0),
        place="system",
        evidence=known,
        also=LOST | {Cause.RETRIEVAL},
        note="What is known of the user stands before what holds for all users.",
    )


def profiles(of: Scene) -> list[str]:
    """What is known of three users."""
    names = of.rng.sample(("Ada", "Bo", "Chen", "Dara", "Elif", "Femi"), 3)
    if of.writer.language == "zh":
        return [f"用户画像：{name}，{of.writer.passage(60)}" for name in names]
    return [f"About the user {name}: {of.writer.passage(60)}" for name in names]


def _question_first(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "order question", dialect)
    rules, questions = of.system(), of.writer.several(4)
    return planted(
        of,
        Cause.ORDER,
        "question-before-rules",
        [of.draft((), (says(f"{question}\n\n{rules}", of.edge),)) for question in questions],
        [of.draft((Text(rules, of.edge),), (says(question),)) for question in questions],
        at=("turn", 0, 0),
        place="user",
        evidence=questions,
        also=LOST,
        note="The message begins with the question and ends with the rules for all questions.",
    )


def _scene(seed: int, name: str, dialect: Dialect, form: str) -> Scene:
    return scene(seed, name, dialect, language="zh" if form.startswith("chinese") else None)
