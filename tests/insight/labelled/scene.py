"""Healthy conversations to begin with: many questions on one prompt, and sessions that grow."""

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.insight.labelled.case import Case, Dialect
from tests.insight.labelled.draft import Draft, Mark, Text, Tool, Turn, answers, says
from tests.insight.labelled.prose import Writer
from tests.insight.labelled.toolbox import call, make_tools, result
from tests.insight.labelled.wire import Spot, body, write
from tests.insight.labelled.words import Language

from headstart.contracts.prompt import Kind
from headstart.insight.causes import Cause

MINIMUMS: Mapping[Dialect, Mapping[str, int]] = {
    "anthropic": {
        "claude-sonnet-4-5": 1024,
        "claude-opus-5-5": 512,
        "claude-sonnet-4-6": 1024,
        "claude-haiku-4-5": 4096,
    },
    "chat": {"gpt-5.4": 1024, "gpt-5.6-terra": 1024, "gpt-4.1": 1024, "gpt-6-sol": 1024},
    "responses": {"gpt-5.6-sol": 1024, "gpt-5.4": 1024, "gpt-6.1-sol": 1024},
    "gemini": {"gemini-2.5-flash": 2048, "gemini-2.5-pro": 2048, "gemini-3.6-flash": 4096},
    "deepseek": {"deepseek-chat": 64, "deepseek-v4-flash": 64},
}
"""The vendors' documents, by way of the rules A7, O4, O12, G2 and D3."""
LATE = ("gpt-5.6", "gpt-6")
"""OpenAI's models with breakpoints."""
ENOUGH = 900
"""Tokens of a system prompt where the vendor's minimum is less."""
MARKING: Mapping[Dialect, str] = {
    "anthropic": "claude-sonnet-4-5",
    "chat": "gpt-5.6-terra",
    "responses": "gpt-5.6-sol",
}
"""The dialects with markers, and a model of each that takes them."""
EXPLICIT: Mapping[str, Any] = {"prompt_cache_options": {"mode": "explicit"}}
LOST = frozenset({Cause.ORDER, Cause.MARKER_AFTER_VOLATILE, Cause.NEVER_READ})
"""True too of what changes at the beginning: all behind it is written and never read."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Who speaks what with whom."""

    dialect: Dialect
    model: str
    writer: Writer

    @property
    def rng(self) -> random.Random:
        return self.writer.rng

    @property
    def minimum(self) -> int:
        return MINIMUMS[self.dialect][self.model]

    @property
    def enough(self) -> int:
        """Tokens of a prompt that is surely long enough."""
        return max(ENOUGH, int(self.minimum * 1.1))

    @property
    def late(self) -> bool:
        """Whether it is one of OpenAI's models with breakpoints."""
        return self.dialect in ("chat", "responses") and self.model.startswith(LATE)

    @property
    def edge(self) -> Mark:
        """The marker that a prefix needs which many conversations share.

        OpenAI's later models write no implicit boundary there but the one of a lone prefix (O8).
        """
        return "" if self.dialect == "anthropic" or self.late else None

    def tools(self, count: int) -> tuple[Tool, ...]:
        return make_tools(self.writer, count)

    def system(self, tokens: int = 0) -> str:
        return self.writer.instructions(tokens or self.enough)

    def draft(self, system: Sequence[Text], turns: Sequence[Turn], **more: Any) -> Draft:
        return Draft(self.dialect, self.model, tuple(system), tuple(turns), **more)


def scene(
    seed: int,
    name: str,
    dialect: Dialect,
    *,
    language: Language | None = None,
    model: str | None = None,
) -> Scene:
    """The same for the same seed and name."""
    rng = random.Random(f"{seed} {dialect} {name}")
    spoken: Language = language or rng.choice(("en", "en", "zh"))
    return Scene(dialect, model or rng.choice(_models(dialect)), Writer(rng, spoken, seed))


def marking_scene(seed: int, name: str, dialect: Dialect) -> Scene:
    """With a model that takes markers."""
    return scene(seed, name, dialect, model=MARKING[dialect])


def _models(dialect: Dialect) -> list[str]:
    """Those with a high minimum come less often, they make long prompts."""
    models = list(MINIMUMS[dialect])
    return [model for model in models if MINIMUMS[dialect][model] < 4096] * 3 + models


def fan(of: Scene, count: int = 3, *, tools: int = 0, system: str | None = None) -> list[Draft]:
    """One prompt, many questions, each of another user."""
    text = of.system() if system is None else system
    blocks = (Text(text, of.edge),)
    offered = of.tools(tools)
    return [
        of.draft(blocks, (says(question),), tools=offered) for question in of.writer.several(count)
    ]


def session(
    of: Scene, count: int = 3, *, tools: int = 0, system: str | None = None, opening: int = 1
) -> list[Draft]:
    """One conversation, request by request; with tools, most requests end in a result.

    `opening`: how many questions the first request has.
    """
    offered = of.tools(tools)
    text = of.system() if system is None else system
    return grown(of, text, dialogue(of, opening + count + 1, offered), count, opening, offered)


def dialogue(of: Scene, questions: int, tools: tuple[Tool, ...] = ()) -> list[Turn]:
    """User and assistant by turns, with rounds of a tool between them where there are any."""
    turns: list[Turn] = []
    for question in of.writer.several(questions):
        turns.append(says(question))
        if tools:
            made = call(of.writer, of.dialect, tools)
            turns.append(Turn("assistant", (Text(of.writer.answer), made)))
            turns.append(Turn("user", (result(of.writer, made),)))
        turns.append(answers(of.writer.answer))
    return turns


def grown(
    of: Scene,
    system: str,
    turns: Sequence[Turn],
    count: int,
    opening: int = 1,
    tools: tuple[Tool, ...] = (),
) -> list[Draft]:
    """`count` requests that each end at one more of the user's turns."""
    ends = [number for number, turn in enumerate(turns, start=1) if turn.role == "user"]
    mark: Mark = "" if of.dialect == "anthropic" else None
    return [
        moved(of.draft((Text(system, mark),), turns[:end], tools=tools))
        for end in ends[opening - 1 : opening - 1 + count]
    ]


def moved(draft: Draft, ttl: str = "") -> Draft:
    """For Anthropic, marked at the end of the last turn, and nowhere else in the messages."""
    if draft.dialect != "anthropic":
        return draft
    turns = [replace(turn, listed=turn.role == "user") for turn in draft.turns]
    turns[-1] = turns[-1].marked(ttl)
    return replace(draft, turns=tuple(turns))


def healthy(
    of: Scene, name: str, drafts: Iterable[Draft], note: str, also: Collection[Cause] = ()
) -> Case:
    """Nothing is wrong with these."""
    bodies = [body(draft) for draft in drafts]
    return Case(
        name=f"{of.dialect}/healthy/{name}",
        dialect=of.dialect,
        bodies=bodies,
        also=frozenset(also),
        note=note,
    )


def planted(
    of: Scene,
    cause: Cause,
    name: str,
    drafts: Sequence[Draft],
    twin: Sequence[Draft] = (),
    *,
    at: Spot | str,
    place: Kind | None = None,
    evidence: Sequence[str] = (),
    also: Collection[Cause] = (),
    kept: int | None = None,
    diverges: bool = True,
    note: str = "",
) -> Case:
    """`at`: the spot at fault in the last draft, or the pointer of a field.

    `diverges`: whether the prompts differ there, so that what comes before is what they share.
    """
    written = [write(draft) for draft in drafts]
    places = written[-1].places
    if diverges and not isinstance(at, str):
        order = sorted(places, key=_order(of.dialect))
        kept = order.index(at)
    return Case(
        name=f"{of.dialect}/{cause}/{name}",
        dialect=of.dialect,
        bodies=[each.body for each in written],
        cause=cause,
        also=frozenset(also),
        place=place,
        pointer=at if isinstance(at, str) else places[at],
        evidence=tuple(evidence),
        kept=kept,
        twin=[body(draft) for draft in twin],
        note=note,
    )


def _order(dialect: Dialect) -> Callable[[Spot], tuple[int, ...]]:
    """The order in which a vendor renders: Gemini's instructions come before its tools."""
    names = ["system", "tool", "turn"] if dialect == "gemini" else ["tool", "system", "turn"]
    return lambda spot: (names.index(spot[0]), *spot[1:])
