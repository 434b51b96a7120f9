"""Nothing is wrong with these, whatever they look like."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tests.insight.labelled.case import DIALECTS, Body, Case, Dialect
from tests.insight.labelled.draft import Draft, Image, Text, Turn, says
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
from tests.insight.labelled.toolbox import call, hexadecimal, result
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
        for name, fields in LIMITS[dialect].items():
            yield _other_fields(scene(seed, f"healthy {name}", dialect), name, fields)
    yield from _anthropic(seed)
    yield from _openai(seed)
    yield _spelled_otherwise(scene(seed, "healthy snake", "gemini"))


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


def _other_fields(of: Scene, name: str, fields: tuple[Mapping[str, Any], ...]) -> Case:
    drafts = session(of, len(fields), tools=2)
    changed = [draft.with_fields(**more) for draft, more in zip(drafts, fields, strict=True)]
    return healthy(of, name, changed, "This vendor doesn't count it to the prompt.")


LIMITS: Mapping[Dialect, Mapping[str, tuple[Mapping[str, Any], ...]]] = {
    "anthropic": {
        "limits": ({"max_tokens": 512}, {"max_tokens": 2048, "stop_sequences": ["END"]}),
        "sampling": ({"temperature": 0.2}, {"temperature": 0.9, "top_p": 0.5}),
        "metadata": (
            {"metadata": {"user_id": "u-17"}, "stream": True},
            {"metadata": {"user_id": "u-18"}, "stream": False},
        ),
        "explicit-defaults": (
            {"thinking": {"type": "disabled"}, "tool_choice": {"type": "auto"}},
            {},
            {"output_config": {"effort": "high"}},
        ),
    },
    "chat": {
        "limits": ({"max_completion_tokens": 512}, {"max_completion_tokens": 64, "stop": ["END"]}),
        "sampling": ({"temperature": 0.2, "seed": 7}, {"temperature": 0.9, "seed": 8}),
        "metadata": (
            {"user": "u-17", "stream": True, "stream_options": {"include_usage": True}},
            {"user": "u-18", "metadata": {"run": "b"}},
        ),
        "tool-choice": ({"tool_choice": "auto"}, {"tool_choice": "none"}, {}),
        "explicit-defaults": (
            {"parallel_tool_calls": True, "response_format": {"type": "text"}},
            {},
            {"verbosity": "medium", "service_tier": "auto"},
        ),
    },
    "responses": {
        "limits": ({"max_output_tokens": 512}, {"max_output_tokens": 64}),
        "sampling": ({"temperature": 0.2}, {"temperature": 0.9, "top_p": 0.7}),
        "metadata": ({"metadata": {"run": "a"}, "store": True}, {"metadata": {"run": "b"}}),
        "tool-choice": ({"tool_choice": "auto"}, {"tool_choice": "required"}, {}),
        "explicit-defaults": (
            {"parallel_tool_calls": True, "text": {"format": {"type": "text"}}},
            {},
            {"text": {"verbosity": "medium"}, "service_tier": "auto"},
        ),
    },
    "gemini": {
        "limits": (
            {"generationConfig": {"maxOutputTokens": 512}},
            {"generationConfig": {"maxOutputTokens": 64, "temperature": 0.2}},
        ),
        "labels": ({"labels": {"run": "a"}}, {"labels": {"run": "b"}}),
    },
    "deepseek": {
        "limits": ({"max_tokens": 512}, {"max_tokens": 64, "stop": ["END"]}),
        "sampling": ({"temperature": 0.2}, {"temperature": 1.1}),
    },
}
"""Fields that change and break nothing (A16; O3; G7; D1)."""


def _anthropic(seed: int) -> Iterator[Case]:
    of = scene(seed, "healthy automatic", "anthropic")
    control = {"cache_control": {"type": "ephemeral"}}
    automatic = [draft.unmarked().with_fields(**control) for draft in session(of, 4, tools=2)]
    yield healthy(of, "automatic-marker", automatic, "One marker at the top level, no other (A6).")

    of = scene(seed, "healthy forms", "anthropic")
    strings = [
        replace(draft, turns=tuple(replace(turn, listed=False) for turn in draft.turns))
        for draft in session(of, 4)
    ]
    yield healthy(
        of,
        "marker-makes-a-list",
        strings,
        "A turn is a list while it is marked and a string afterwards: the same to this vendor.",
        also={Cause.FORM},
    )

    of = scene(seed, "healthy layers", "anthropic")
    layered = []
    for draft in session(of, 3, tools=3):
        *first, last = draft.tools
        layered.append(
            replace(
                draft,
                tools=(*first, replace(last, mark="1h")),
                system=draft.system_marked("1h").system,
            )
        )
    yield healthy(of, "1h-before-5m", layered, "Longer lifetimes first, three markers.")

    of = scene(seed, "healthy two markers", "anthropic")
    yield healthy(
        of,
        "two-latest-turns",
        [_both(d) for d in session(of, 4)],
        "A marker stays for a turn.",
    )

    of = scene(seed, "healthy tail", "anthropic")
    rules = of.system()
    tails = []
    for draft, line in zip(fan(of, 3), values(Cause.CLOCK, "iso-utc", of.rng, 3)[0], strict=True):
        tails.append(replace(draft, system=(Text(rules, ""), Text(line))))
    yield healthy(
        of,
        "clock-behind-the-marker",
        tails,
        "The clock is the last block of the system prompt, behind the marker, and short messages "
        "come after it.",
        also={Cause.CLOCK, Cause.DATE},
    )

    of = scene(seed, "healthy run", "anthropic")
    yield healthy(
        of, "30-results-in-a-run", _long_run(of), "Thirty results in a run are one position (A4)."
    )


def _both(draft: Draft) -> Draft:
    """Marked at the end of the last two of the user's turns."""
    if len(draft.turns) < 3:
        return draft
    return draft.with_turn(len(draft.turns) - 3, draft.turns[-3].marked(""))


def _long_run(of: Scene) -> list[Draft]:
    offered = of.tools(3)
    system = (Text(of.system()),)
    start = (says(of.writer.question),)
    calls = [call(of.writer, "anthropic", offered) for _ in range(30)]
    asked = Turn("assistant", tuple(calls))
    given = Turn("user", tuple(result(of.writer, made, 30) for made in calls))
    first = moved(of.draft(system, start, tools=offered))
    return [first, moved(of.draft(system, (*start, asked, given), tools=offered))]


def _openai(seed: int) -> Iterator[Case]:
    for dialect in ("chat", "responses"):
        late = "gpt-5.6-terra" if dialect == "chat" else "gpt-5.6-sol"
        of = scene(seed, "healthy explicit", dialect, model=late)
        options = {"prompt_cache_options": {"mode": "explicit", "ttl": "30m"}}
        explicit = [draft.with_fields(**options) for draft in fan(of, 3)]
        yield healthy(of, "explicit-mode", explicit, "One breakpoint behind what is shared (O6).")

        of = scene(seed, "healthy key", dialect, model=late)
        key = "desk-" + hexadecimal(of.rng, 8)
        keyed = [draft.with_fields(prompt_cache_key=key) for draft in session(of, 3)]
        yield healthy(of, "one-cache-key", keyed, "The key is that of the session.")

        of = scene(seed, "healthy moving", dialect, model=late)
        moving = [draft.last_turn(draft.turns[-1].marked("")) for draft in session(of, 4)]
        yield healthy(of, "moved-breakpoint", moving, "The breakpoint goes on to the last turn.")

        of = scene(seed, "healthy reasoning", dialect, model=late)
        effort: Mapping[str, Any] = (
            {"reasoning_effort": "high"} if dialect == "chat" else {"reasoning": {"effort": "high"}}
        )
        steady = [draft.with_fields(**effort) for draft in session(of, 3, tools=2)]
        yield healthy(of, "steady-effort", steady, "The effort is set and stays.")


def _spelled_otherwise(of: Scene) -> Case:
    """Gemini reads both spellings of its fields."""
    case = healthy(of, "snake-case", session(of, 3, tools=2), "Fields in the other spelling.")
    other = json.loads(
        json.dumps(case.bodies[1], ensure_ascii=False)
        .replace('"systemInstruction"', '"system_instruction"')
        .replace('"functionDeclarations"', '"function_declarations"')
        .replace('"parametersJsonSchema"', '"parameters_json_schema"')
    )
    return replace(case, bodies=[case.bodies[0], other, case.bodies[2]])
