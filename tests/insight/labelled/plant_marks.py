"""Markers that do nothing, and prompts that need one, wherever there are markers."""

from collections.abc import Iterator

from tests.insight.labelled.case import Case, Dialect
from tests.insight.labelled.draft import Draft, Mark, Text, Turn, says
from tests.insight.labelled.plant_values import profiles
from tests.insight.labelled.scene import EXPLICIT, MARKING, fan, marking_scene, planted

from headstart.insight.causes import Cause

WASTED = frozenset({Cause.NEVER_READ, Cause.MARKER_AFTER_VOLATILE})


def mark_cases(seed: int) -> Iterator[Case]:
    """All of them, for the dialects that have markers."""
    for dialect in MARKING:
        yield _unmarked_fan(seed, dialect)
        yield _profile_marked(seed, dialect)
        yield _question_marked(seed, dialect)
        yield _marked_once(seed, dialect)
        yield _small_prompt(seed, dialect)


def _unmarked_fan(seed: int, dialect: Dialect) -> Case:
    of = marking_scene(seed, "no marker fan", dialect)
    twin = fan(of, 4, tools=2)
    note = (
        "Nothing is written without a marker."
        if dialect == "anthropic"
        else "Written is only the end of each question: nobody reads that (O5, O8)."
    )
    drafts = [draft.unmarked() for draft in twin]
    return planted(of, Cause.NO_MARKER, "fan", drafts, twin, at="", note=note)


def _profile_marked(seed: int, dialect: Dialect) -> Case:
    of = marking_scene(seed, "profile marked", dialect)
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
    of = marking_scene(seed, "question marked", dialect)
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
    of = marking_scene(seed, "marked once", dialect)
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


def _small_prompt(seed: int, dialect: Dialect) -> Case:
    of = marking_scene(seed, "small prompt", dialect)
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
