"""The same, said with other bytes."""

import json
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from tests.insight.labelled.case import DIALECTS, Case, Dialect
from tests.insight.labelled.draft import Draft
from tests.insight.labelled.scene import Scene, fan, planted, scene, session
from tests.insight.labelled.words import Language

from headstart.insight.causes import Cause

Change = Callable[[str], str]


def _half_width(text: str) -> str:
    return text.translate(str.maketrans("，；：（）？！", ",;:()?!"))


def _full_width(text: str) -> str:
    return text.translate(str.maketrans(",;:", "，；："))


def _in_the_middle(text: str, old: str, new: str) -> str:
    """One place changed, the first one behind the middle."""
    at = text.index(old, len(text) // 2)
    return text[:at] + new + text[at + len(old) :]


CHANGES: Mapping[tuple[Cause, str], tuple[Change, Language | None]] = {
    (Cause.WHITESPACE, "trailing-space"): (lambda text: text + " ", None),
    (Cause.WHITESPACE, "trailing-newline"): (lambda text: text + "\n", None),
    (Cause.WHITESPACE, "blank-line"): (lambda text: _in_the_middle(text, "\n\n", "\n\n\n"), None),
    (Cause.WHITESPACE, "space-in-line"): (lambda text: _in_the_middle(text, "\n- ", "\n-  "), None),
    (Cause.WHITESPACE, "line-end-space"): (lambda text: _in_the_middle(text, "\n", " \n"), None),
    (Cause.WHITESPACE, "tab"): (lambda text: _in_the_middle(text, "- ", "-\t"), None),
    (Cause.LINE_ENDS, "crlf"): (lambda text: text.replace("\n", "\r\n"), None),
    (Cause.LINE_ENDS, "one-crlf"): (lambda text: _in_the_middle(text, "\n", "\r\n"), None),
    (Cause.UNICODE_FORM, "nfd"): (lambda text: unicodedata.normalize("NFD", text), "en"),
    (Cause.WIDTH, "half-width"): (_half_width, "zh"),
    (Cause.WIDTH, "full-width"): (_full_width, "en"),
    (Cause.WIDTH, "one-comma"): (lambda text: _in_the_middle(text, "，", ","), "zh"),
    (Cause.INVISIBLE, "zero-width"): (lambda text: _in_the_middle(text, "- ", "- \u200b"), None),
    (Cause.INVISIBLE, "bom"): (lambda text: "\ufeff" + text, None),
    (Cause.INVISIBLE, "word-joiner"): (lambda text: _in_the_middle(text, "- ", "- \u2060"), None),
}
"""What one call site does to the system prompt and the other doesn't; in which language only."""


def text_cases(seed: int) -> Iterator[Case]:
    """All of them, for all dialects."""
    for dialect in DIALECTS:
        for number, (cause, name) in enumerate(CHANGES):
            yield _changed(seed, dialect, cause, name, number)
        for cause in (Cause.LINE_ENDS, Cause.WHITESPACE, Cause.INVISIBLE):
            yield _in_history(seed, dialect, cause)
        yield _json_in_system(seed, dialect)
        yield _json_in_message(seed, dialect)
        yield _one_word(seed, dialect)
        yield _one_line(seed, dialect)
        if dialect != "gemini":
            yield _form_of_system(seed, dialect)


def _changed(seed: int, dialect: Dialect, cause: Cause, name: str, number: int) -> Case:
    change, language = CHANGES[cause, name]
    of = scene(seed, f"{cause} {name}", dialect, language=language)
    system = _with_accents(of)
    # What is added at the very end costs a history, not a question that is new anyway.
    shape = "session" if number % 2 or name.startswith("trailing") else "fan"
    twin = fan(of, 3, system=system)
    if shape == "session":
        twin = session(of, 3, system=system, opening=3)
    return planted(
        of,
        cause,
        f"{name}-{shape}",
        _every_other(twin, change),
        twin,
        at=("system", 0),
        place="system",
    )


def _with_accents(of: Scene) -> str:
    """A system prompt that has other letters than those of ASCII in it, whoever the firm is."""
    head = of.system()
    if of.writer.language == "zh":
        return head
    return head + "\n\nOffices: Zürich, Malmö, São Paulo, Besançon; ask for the façade team."


def _every_other(drafts: list[Draft], change: Change) -> list[Draft]:
    """The first as it is, the second changed, the third as it is again, …"""
    return [
        draft.with_system(change) if number % 2 else draft for number, draft in enumerate(drafts)
    ]


def _in_history(seed: int, dialect: Dialect, cause: Cause) -> Case:
    """An earlier message comes back from a store that keeps text otherwise."""
    of = scene(seed, f"{cause} in history", dialect)
    twin = session(of, 2, opening=4)
    line = of.writer.passage(40)
    twin = [draft.with_turn(0, draft.turns[0].say(f"{line}\n{line}")) for draft in twin]
    kept = twin[0].turns[0].text
    changed = {
        Cause.LINE_ENDS: kept.replace("\n", "\r\n"),
        Cause.WHITESPACE: kept + "\n",
        Cause.INVISIBLE: "\u200b" + kept,
    }[cause]
    return planted(
        of,
        cause,
        "in-history",
        [twin[0], twin[1].with_turn(0, twin[1].turns[0].say(changed))],
        twin,
        at=("turn", 0, 0),
        place="user",
        also={Cause.HISTORY_EDITED},
    )


def _json_in_system(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "json in system", dialect)
    facts = {
        "region": "eu",
        "plan": "gold",
        "flags": {"beta": True, "export": False},
        "note": of.writer.question,
    }
    head = "账户设置：" if of.writer.language == "zh" else "Settings of the account:"
    rules = of.system()
    texts = [
        f"{head}\n{json.dumps(_turned(facts, number), ensure_ascii=False)}\n\n{rules}"
        for number in range(3)
    ]
    twin = fan(of, 3, system=texts[0])
    drafts = [
        draft.with_system(lambda _, text=text: text)
        for draft, text in zip(twin, texts, strict=True)
    ]
    return planted(
        of,
        Cause.JSON_ORDER,
        "in-system",
        drafts,
        twin,
        at=("system", 0),
        place="system",
        also={Cause.ORDER},
    )


def _turned(facts: Mapping[str, object], by: int) -> dict[str, object]:
    names = list(facts)
    return {name: facts[name] for name in (*names[by:], *names[:by])}


def _json_in_message(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "json in message", dialect)
    facts = {"order": {"state": "open", "weight": 12.5}, "buyer": "Ada", "express": True}
    twin = session(of, 2, opening=4)
    asked = twin[0].turns[0].text
    first, second = (
        f"{json.dumps(_turned(facts, number), ensure_ascii=False)}\n{asked}" for number in (0, 1)
    )
    twin = [draft.with_turn(0, draft.turns[0].say(first)) for draft in twin]
    return planted(
        of,
        Cause.JSON_ORDER,
        "in-message",
        [twin[0], twin[1].with_turn(0, twin[1].turns[0].say(second))],
        twin,
        at=("turn", 0, 0),
        place="user",
        also={Cause.HISTORY_EDITED},
    )


def _one_word(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "wording word", dialect)
    line, other = {
        "en": (
            "In short: keep every answer about the contract in plain view.",
            "In short: always keep each answer about the contract in plain view.",
        ),
        "zh": ("总之：回答要清楚，并注明出处。", "总之：回答必须清楚，并注明出处。"),
    }[of.writer.language]
    system = of.system()
    opening, rest = system.split("\n\n", 1)
    twin = fan(of, 4, system=f"{opening}\n\n{line}\n\n{rest}")
    return planted(
        of,
        Cause.WORDING,
        "one-phrase",
        _every_other(twin, lambda text: text.replace(line, other)),
        twin,
        at=("system", 0),
        place="system",
        also={Cause.SYSTEM_CHANGED},
    )


def _one_line(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "wording line", dialect)
    twin = fan(of, 4, tools=2)
    lines = twin[0].system[0].text.split("\n")
    at = next(number for number, line in enumerate(lines) if line.startswith("- "))
    instead = "- " + of.writer.passage(15)

    def change(text: str) -> str:
        changed = text.split("\n")
        changed[at] = instead
        return "\n".join(changed)

    return planted(
        of,
        Cause.WORDING,
        "one-line",
        _every_other(twin, change),
        twin,
        at=("system", 0),
        place="system",
        also={Cause.SYSTEM_CHANGED},
    )


def _form_of_system(seed: int, dialect: Dialect) -> Case:
    """Two call sites: one sends a string, one a list of one block."""
    of = scene(seed, "form", dialect)
    twin = fan(of, 4)
    drafts = []
    for number, draft in enumerate(twin):
        plain = replace(draft.system[0], mark=None)
        drafts.append(
            replace(draft, system=(plain,)) if number % 2 else replace(draft, listed=True)
        )
    also: Collection[Cause] = {Cause.NO_MARKER} if of.edge is not None else ()
    return planted(
        of,
        Cause.FORM,
        "string-and-blocks",
        drafts,
        [replace(draft, listed=True) for draft in twin],
        at=("system", 0),
        place="system",
        also=also,
        diverges=False,
        note="The text is the same; where markers are needed, the string can't carry one.",
    )
