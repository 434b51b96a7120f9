"""Nothing is wrong with these either: what this or that vendor doesn't mind."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tests.insight.labelled.case import DIALECTS, Case, Dialect
from tests.insight.labelled.draft import Draft, Text, Turn, says
from tests.insight.labelled.scene import Scene, fan, healthy, moved, scene, session
from tests.insight.labelled.toolbox import call, hexadecimal, result
from tests.insight.labelled.volatile import values

from headstart.insight.causes import Cause

FIELDS: Mapping[Dialect, Mapping[str, tuple[Mapping[str, Any], ...]]] = {
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
            {"user": "u-18", "store": True, "metadata": {"run": "b"}},
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


def vendor_cases(seed: int) -> Iterator[Case]:
    """All of them."""
    for dialect in DIALECTS:
        for name, fields in FIELDS[dialect].items():
            yield _other_fields(scene(seed, f"healthy {name}", dialect), name, fields)
    yield from _anthropic(seed)
    yield from _openai(seed)
    yield _spelled_otherwise(scene(seed, "healthy snake", "gemini"))


def _other_fields(of: Scene, name: str, fields: tuple[Mapping[str, Any], ...]) -> Case:
    drafts = session(of, len(fields), tools=2)
    changed = [draft.with_fields(**more) for draft, more in zip(drafts, fields, strict=True)]
    return healthy(of, name, changed, "This vendor doesn't count it to the prompt.")


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
