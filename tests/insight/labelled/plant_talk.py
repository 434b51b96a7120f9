"""Conversations that don't only grow."""

from collections.abc import Iterator
from dataclasses import replace

from tests.insight.labelled.case import DIALECTS, Case, Dialect
from tests.insight.labelled.draft import Draft, Image, Result, Text, Turn, answers, says
from tests.insight.labelled.pictures import pixels, png
from tests.insight.labelled.scene import LOST, Scene, fan, moved, planted, scene, session
from tests.insight.labelled.words import Language

from headstart.insight.causes import Cause

SUMMARIES: dict[str, tuple[Language, str]] = {
    "plain": ("en", "Summary of the conversation so far:\n{}"),
    "tagged": ("en", "<summary>\n{}\n</summary>"),
    "continued": (
        "en",
        "This session is being continued from a previous conversation that ran out of context. "
        "The conversation is summarized below:\n{}",
    ),
    "chinese": ("zh", "此前对话的摘要：\n{}"),
}


def talk_cases(seed: int) -> Iterator[Case]:
    """All of them, for all dialects."""
    for dialect in DIALECTS:
        yield _section_added(seed, dialect)
        yield _other_persona(seed, dialect)
        yield _question_edited(seed, dialect)
        yield _answer_trimmed(seed, dialect)
        yield _result_cut(seed, dialect)
        yield _window(seed, dialect, 1)
        yield _window(seed, dialect, 2)
        for name in SUMMARIES:
            yield _compacted(seed, dialect, name)
        yield _ranked_in_system(seed, dialect)
        yield _ranked_in_message(seed, dialect)
        yield _ranked_blocks(seed, dialect)
        if dialect != "deepseek":
            yield _encoded_anew(seed, dialect)


def _section_added(seed: int, dialect: Dialect) -> Case:
    """What was learnt is written into the system prompt."""
    of = scene(seed, "section added", dialect)
    twin = session(of, 3, tools=2, opening=3)
    notes = "\n".join(f"- {of.writer.passage(15)}" for _ in range(4))
    head = "## 记忆" if of.writer.language == "zh" else "## Memory"
    drafts = [*twin[:2], twin[2].with_system(lambda text: f"{text}\n\n{head}\n{notes}")]
    return planted(
        of,
        Cause.SYSTEM_CHANGED,
        "section-added",
        drafts,
        twin,
        at=("system", 0),
        place="system",
        also={Cause.WORDING},
    )


def _other_persona(seed: int, dialect: Dialect) -> Case:
    """A router gives each turn of the session to another expert."""
    of = scene(seed, "other persona", dialect)
    twin = session(of, 3, opening=3)
    others = [of.system(), of.system()]
    drafts = [
        twin[0],
        *(
            draft.with_system(lambda _, text=text: text)
            for draft, text in zip(twin[1:], others, strict=True)
        ),
    ]
    return planted(
        of,
        Cause.SYSTEM_CHANGED,
        "other-persona",
        drafts,
        twin,
        at=("system", 0),
        place="system",
        also={Cause.WORDING},
    )


def _question_edited(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "question edited", dialect)
    twin = session(of, 2, opening=6)
    turn = twin[1].turns[2]
    drafts = [twin[0], twin[1].with_turn(2, turn.say(of.writer.passage(30)))]
    return planted(
        of, Cause.HISTORY_EDITED, "question", drafts, twin, at=("turn", 2, 0), place="user"
    )


def _answer_trimmed(seed: int, dialect: Dialect) -> Case:
    """Answers are kept short in the store."""
    of = scene(seed, "answer trimmed", dialect)
    twin = session(of, 2, opening=6)
    turn = twin[1].turns[3]
    drafts = [twin[0], twin[1].with_turn(3, turn.say(turn.text[: len(turn.text) // 2] + "…"))]
    return planted(
        of, Cause.HISTORY_EDITED, "answer", drafts, twin, at=("turn", 3, 0), place="assistant"
    )


def _result_cut(seed: int, dialect: Dialect) -> Case:
    """Old results of tools are cleared to save room."""
    of = scene(seed, "result cut", dialect)
    twin = session(of, 2, tools=3, opening=5)
    at = next(n for n, turn in enumerate(twin[1].turns) if isinstance(turn.blocks[0], Result))
    turn = twin[1].turns[at]
    cut = replace(turn, blocks=(replace(turn.blocks[0], text="[old tool result cleared]"),))
    drafts = [twin[0], twin[1].with_turn(at, cut)]
    return planted(
        of, Cause.HISTORY_EDITED, "result", drafts, twin, at=("turn", at, 0), place="tool_result"
    )


def _window(seed: int, dialect: Dialect, exchanges: int) -> Case:
    """Each turn drops the oldest question and its answer."""
    of = scene(seed, f"window {exchanges}", dialect)
    twin = session(of, 3, opening=6)
    drafts = [
        replace(draft, turns=draft.turns[2 * exchanges * number :])
        for number, draft in enumerate(twin)
    ]
    return planted(
        of,
        Cause.WINDOW,
        f"{exchanges}-at-a-time",
        drafts,
        twin,
        at=("turn", 0, 0),
        place="user",
    )


def _compacted(seed: int, dialect: Dialect, name: str) -> Case:
    language, form = SUMMARIES[name]
    of = scene(seed, f"compacted {name}", dialect, language=language)
    twin = session(of, 3, opening=5)
    summary = says(form.format(of.writer.passage(120)), listed=dialect == "anthropic")
    drafts = [
        twin[0],
        twin[1],
        replace(twin[2], turns=(summary, answers(of.writer.answer), twin[2].turns[-1])),
    ]
    return planted(
        of,
        Cause.COMPACTION,
        name,
        drafts,
        twin,
        at=("turn", 0, 0),
        place="user",
        note="The history was replaced by a summary.",
    )


def _ranked_in_system(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "ranked in system", dialect)
    head = of.system()
    documents = of.writer.documents(4, 120)
    texts = [f"{head}\n\n" + "\n\n".join(ranked) for ranked in _rankings(of, documents)]
    twin = fan(of, 3, system=texts[0])
    drafts = [
        draft.with_system(lambda _, text=text: text)
        for draft, text in zip(twin, texts, strict=True)
    ]
    return planted(
        of,
        Cause.RETRIEVAL_ORDER,
        "in-system",
        drafts,
        twin,
        at=("system", 0),
        place="system",
        also=LOST,
    )


def _ranked_in_message(seed: int, dialect: Dialect) -> Case:
    """Documents are ranked anew by the latest question, and stand in the first message."""
    of = scene(seed, "ranked in message", dialect)
    documents = of.writer.documents(4, 120)
    asked = session(of, 3, opening=4)
    question = asked[0].turns[0].text
    texts = ["\n\n".join([*ranked, question]) for ranked in _rankings(of, documents)]
    twin = [draft.with_turn(0, draft.turns[0].say(texts[0])) for draft in asked]
    drafts = [
        draft.with_turn(0, draft.turns[0].say(text))
        for draft, text in zip(twin, texts, strict=True)
    ]
    return planted(
        of,
        Cause.RETRIEVAL_ORDER,
        "in-first-message",
        drafts,
        twin,
        at=("turn", 0, 0),
        place="user",
        also=LOST | {Cause.HISTORY_EDITED},
    )


def _ranked_blocks(seed: int, dialect: Dialect) -> Case:
    """Each document is a block of its own, behind the rules."""
    of = scene(seed, "ranked blocks", dialect)
    rules, questions = of.system(), of.writer.several(3)
    documents = of.writer.documents(4, 120)
    rankings = _rankings(of, documents)
    drafts, twin = [], []
    for ranked, question in zip(rankings, questions, strict=True):
        drafts.append(_with_blocks(of, rules, ranked, question))
        twin.append(_with_blocks(of, rules, rankings[0], question))
    return planted(
        of,
        Cause.RETRIEVAL_ORDER,
        "blocks",
        drafts,
        twin,
        at=("system", 1),
        place="system",
        also=LOST,
    )


def _with_blocks(of: Scene, rules: str, documents: list[str], question: str) -> Draft:
    blocks = [Text(rules), *(Text(document) for document in documents)]
    blocks[-1] = replace(blocks[-1], mark=of.edge)
    return of.draft(blocks, (says(question),))


def _rankings(of: Scene, documents: list[str]) -> list[list[str]]:
    """Three orders, each with another document first."""
    first = of.rng.sample(documents, len(documents))
    return [first[number:] + first[:number] for number in range(3)]


def _encoded_anew(seed: int, dialect: Dialect) -> Case:
    of = scene(seed, "encoded anew", dialect)
    asked = session(of, 3, opening=3)
    picture = pixels(of.rng)
    twin = [_showing(draft, png(picture, 9)) for draft in asked]
    drafts = [
        _showing(draft, png(picture, level)) for draft, level in zip(asked, (9, 1, 6), strict=True)
    ]
    return planted(
        of,
        Cause.MEDIA,
        "png-level",
        drafts,
        twin,
        at=("turn", 0, 0),
        place="user",
        also={Cause.HISTORY_EDITED},
        note="The same pixels, packed otherwise.",
    )


def _showing(draft: Draft, file: bytes) -> Draft:
    first = draft.turns[0]
    shown = Turn("user", (Image(file), *first.blocks), listed=True)
    return moved(draft.with_turn(0, shown))
