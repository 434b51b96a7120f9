"""Nothing is wrong with these, whatever they look like."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tests.insight.labelled.case import DIALECTS, Body, Case
from tests.insight.labelled.draft import Image, Text, Turn, says
from tests.insight.labelled.pictures import pixels, png
from tests.insight.labelled.scene import (
    Scene,
    dialogue,
    fan,
    grown,
    healthy,
    moved,
    scene,
    session,
)
from tests.insight.labelled.volatile import values

from headstart.insight.causes import Cause

FIXED: Mapping[str, str] = {
    "cutoff": "Knowledge cutoff: 2025-06.",
    "release": "Handbook, release of 14 March 2026, approved by the board.",
    "document-id": "Source document: 7c9e6679-7425-40de-944b-e07fc1f90ae7.",
    "version": "Policy version 4.12.0, section 17 of 40.",
    "hours": "Opening hours: 09:00 to 17:30, on weekdays; calls are answered within 00:05:00.",
    "numbers": "Table 3: north 1042, south 1043, east 1044; order numbers have 10 digits.",
    "chinese-cutoff": "知识截止日期：2025年6月。工作时间：上午9时至下午5时30分。",
    "date-now": "Style: never write `const id = Date.now()` or `datetime.now()` in a test.",
    "uuid-regex": r"Ids match `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-\w{12}`.",
    "template": "Mails begin with {{current_date}} and {{ request_id }}: leave both as they are.",
    "example": "A log line: 2024-02-29T23:59:59Z req_011CSabcDEFghiJKLmno GET /orders 200.",
    "full-width": "Signs are written as they come：“，”and “,” may both be met。",
    "crlf": "Headers end in CRLF:\r\nHost: desk\r\n\r\nKeep them.",
    "nfd": "Names may come decomposed: Zu\u0308rich, Rene\u0301e.",
    "nonce-word": "A nonce is a number used once; a random seed makes runs repeatable.",
}
"""Lines that are the same in every request."""
INFORMATION: Mapping[str, frozenset[Cause]] = {
    "crlf": frozenset({Cause.LINE_ENDS}),
    "nfd": frozenset({Cause.UNICODE_FORM}),
    "full-width": frozenset({Cause.WIDTH}),
}
"""Steady, so harmless; that forms are mixed is worth knowing all the same."""
LAST: Mapping[str, tuple[Cause, str]] = {
    "clock": (Cause.CLOCK, "iso-utc"),
    "clock-rfc": (Cause.CLOCK, "rfc2822"),
    "date": (Cause.DATE, "weekday"),
    "date-chinese": (Cause.DATE, "chinese"),
    "clock-chinese": (Cause.CLOCK, "chinese-clock"),
    "uuid": (Cause.IDENTIFIER, "uuid"),
    "counter": (Cause.COUNTER, "turn"),
    "nonce": (Cause.NONCE, "nonce"),
}
"""Values that stand in the last message alone."""

Make = Callable[[Scene], Case]


def healthy_cases(seed: int) -> Iterator[Case]:
    """All of them, for the dialects that have them."""
    for dialect in DIALECTS:
        for name, make in MAKERS.items():
            yield make(scene(seed, f"healthy {name}", dialect))
        for number, name in enumerate(FIXED):
            yield _fixed(scene(seed, f"healthy {name}", dialect), name, number)
        for name in LAST:
            yield _in_last(scene(seed, f"healthy last {name}", dialect), name)
        if dialect != "deepseek":
            yield _same_picture(scene(seed, "healthy picture", dialect))


def _append(of: Scene) -> Case:
    return healthy(of, "append-only", session(of, 4), "Each request goes on from the one before.")


def _append_with_tools(of: Scene) -> Case:
    drafts = session(of, 5, tools=4)
    return healthy(of, "tool-results", drafts, "Results with times in them are appended.")


def _long_results(of: Scene) -> Case:
    offered = of.tools(3)
    turns = dialogue(of, 4, offered)
    for number, turn in enumerate(turns):
        if isinstance(turn.blocks[0], Text):
            continue
        text = turn.blocks[0].text + "\n" + of.writer.passage(60 * (number + 1))
        turns[number] = replace(turn, blocks=(replace(turn.blocks[0], text=text),))
    drafts = grown(of, of.system(), turns, 5, 1, offered)
    return healthy(of, "growing-results", drafts, "Results get longer and longer.")


def _questions(of: Scene) -> Case:
    return healthy(of, "many-questions", fan(of, 4, tools=3), "One prompt, other users' questions.")


def _branch(of: Scene) -> Case:
    drafts = session(of, 3, opening=2)
    other = moved(drafts[-1].last_turn(drafts[-1].turns[-1].say(of.writer.passage(20))))
    return healthy(of, "branch", [*drafts, other], "The last question is asked in other words.")


def _retry(of: Scene) -> Case:
    drafts = session(of, 2, tools=2)
    return healthy(of, "retry", [*drafts, drafts[-1]], "The last request is sent twice.")


def _unsorted_tools(of: Scene) -> Case:
    drafts = session(of, 3, tools=5)
    order = of.rng.sample(range(5), 5)
    if order == sorted(order):
        order.reverse()
    drafts = [replace(draft, tools=tuple(draft.tools[n] for n in order)) for draft in drafts]
    return healthy(of, "unsorted-tools", drafts, "The order of tools is odd, and always the same.")


def _documents_last(of: Scene) -> Case:
    drafts = fan(of, 3)
    drafts = [
        draft.with_turn(0, says("\n\n".join([*of.writer.documents(3, 80), draft.turns[0].text])))
        for draft in drafts
    ]
    return healthy(of, "documents-last", drafts, "What is looked up stands in the last message.")


def _one_document(of: Scene) -> Case:
    document = of.writer.documents(1, of.enough + 300)[0]
    rules = of.writer.passage(30)
    drafts = [
        of.draft((Text(rules),), (Turn("user", (Text(document, of.edge), Text(question))),))
        for question in of.writer.several(4)
    ]
    return healthy(of, "one-document", drafts, "Many questions on one document.")


def _templates(of: Scene) -> Case:
    drafts = [draft for _ in range(3) for draft in fan(of, 2, tools=of.rng.randint(0, 3))]
    return healthy(of, "several-templates", drafts, "Three prompts, two questions on each.")


def _users(of: Scene) -> Case:
    """Sessions of two users, one request of each by turns."""
    system = of.system()
    one, other = session(of, 2, system=system), session(of, 2, system=system)
    drafts = [one[0], other[0], one[1], other[1]]
    if of.edge is not None:
        drafts = [draft.system_marked(of.edge) for draft in drafts]
    return healthy(of, "parallel-users", drafts, "Two sessions with one system prompt.")


def _short(of: Scene) -> Case:
    drafts = [
        of.draft((Text(of.writer.passage(8)),), (says(question),))
        for question in of.writer.several(3)
    ]
    return healthy(
        of,
        "short-chats",
        drafts,
        "Some dozen tokens without a marker: there is nothing to gain, so at most information.",
        also={Cause.BELOW_MINIMUM},
    )


def _keys_turned(of: Scene) -> Case:
    case = healthy(
        of, "json-keys", session(of, 3, tools=2), "Keys of bodies and messages in another order."
    )
    turned = [body if n % 2 == 0 else _turned(body) for n, body in enumerate(case.bodies)]
    return replace(case, bodies=turned)


def _turned(body: Body) -> Body:
    """Keys of the body and of its messages from the last to the first; tools as they are."""
    made: Body = {}
    for name in reversed(body):
        value = body[name]
        if name in ("messages", "input", "contents"):
            value = [{key: message[key] for key in reversed(message)} for message in value]
        made[name] = value
    return made


def _json_question(of: Scene) -> Case:
    drafts = fan(of, 3)
    facts = {"state": "open", "weight": 12.5, "express": True}
    names = list(facts)
    for number, draft in enumerate(drafts):
        turned = {name: facts[name] for name in names[number:] + names[:number]}
        asked = f"{json.dumps(turned)}\n{draft.turns[0].text}"
        drafts[number] = draft.with_turn(0, says(asked))
    return healthy(
        of, "json-in-question", drafts, "JSON with its keys turned, in the last message."
    )


def _ranked_last(of: Scene) -> Case:
    documents = of.writer.documents(3, 80)
    drafts = [
        draft.with_turn(0, says("\n\n".join([*documents[n:], *documents[:n], draft.turns[0].text])))
        for n, draft in enumerate(fan(of, 3))
    ]
    return healthy(of, "ranked-last", drafts, "Documents in another order, in the last message.")


def _first_message_dated(of: Scene) -> Case:
    """What a session was begun with stays what it was."""
    lines, _ = values(Cause.CLOCK, "iso-utc", of.rng, 1)
    drafts = session(of, 3)
    drafts = [d.with_turn(0, d.turns[0].say(f"{lines[0]}\n{d.turns[0].text}")) for d in drafts]
    return healthy(of, "first-message-dated", drafts, "The session's start is noted once.")


MAKERS: Mapping[str, Make] = {
    "append": _append,
    "tools": _append_with_tools,
    "long results": _long_results,
    "questions": _questions,
    "branch": _branch,
    "retry": _retry,
    "unsorted": _unsorted_tools,
    "documents": _documents_last,
    "one document": _one_document,
    "templates": _templates,
    "users": _users,
    "short": _short,
    "keys": _keys_turned,
    "json": _json_question,
    "ranked": _ranked_last,
    "dated": _first_message_dated,
}


def _fixed(of: Scene, name: str, number: int) -> Case:
    line = FIXED[name]
    opening, rest = of.system().split("\n\n", 1)
    system = f"{opening}\n\n{line}\n\n{rest}"
    drafts = session(of, 3, system=system) if number % 2 else fan(of, 3, system=system)
    return healthy(
        of,
        f"fixed-{name}",
        drafts,
        "The line is the same in every request.",
        INFORMATION.get(name, ()),
    )


def _in_last(of: Scene, name: str) -> Case:
    cause, form = LAST[name]
    drafts = fan(of, 3)
    lines, _ = values(cause, form, of.rng, 3)
    drafts = [
        draft.with_turn(0, says(f"{line}\n\n{draft.turns[0].text}"))
        for draft, line in zip(drafts, lines, strict=True)
    ]
    return healthy(of, f"last-{name}", drafts, "It differs where all is new anyway.")


def _same_picture(of: Scene) -> Case:
    file = png(pixels(of.rng), 9)
    drafts = []
    for draft in session(of, 3):
        first = draft.turns[0]
        shown = Turn("user", (Image(file), *first.blocks), listed=True)
        drafts.append(moved(draft.with_turn(0, shown)))
    return healthy(of, "same-picture", drafts, "A picture that is sent along with every turn.")
