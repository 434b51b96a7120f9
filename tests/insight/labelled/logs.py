"""Logs of forty requests: nine kinds of work, each healthy and with one thing planted."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from tests.insight.labelled.case import Dialect, Log
from tests.insight.labelled.draft import Draft, Text, Turn, says
from tests.insight.labelled.scene import LOST, Scene, fan, scene, session
from tests.insight.labelled.toolbox import hexadecimal
from tests.insight.labelled.volatile import values
from tests.insight.labelled.wire import Spot, body, write
from tests.insight.labelled.words import Language

from headstart.contracts.prompt import Kind
from headstart.insight.causes import Cause

REQUESTS = 40


@dataclass(frozen=True, slots=True)
class Work:
    """Requests that are well, and the same with something planted."""

    good: Sequence[Draft]
    bad: Sequence[Draft]
    at: Spot | str = ""
    place: Kind | None = None
    evidence: Sequence[str] = ()
    also: frozenset[Cause] = frozenset()
    sessions: Sequence[str] = ()
    """Empty: each request is a session."""
    start: datetime = field(default=datetime(2026, 3, 2, 9, 30, tzinfo=UTC))


def logs(seed: int) -> Iterator[Log]:
    """The healthy one first, then the other."""
    for name, (dialect, cause, language, model, make) in WORKS.items():
        of = scene(seed, f"log {name}", dialect, language=language, model=model)
        work = make(of)
        written = [write(draft) for draft in work.bad]
        at = work.at if isinstance(work.at, str) else written[-1].places[work.at]
        sessions = work.sessions or [f"s{number}" for number in range(REQUESTS)]
        good = Log(
            name=f"{dialect}/healthy/log-{name}",
            dialect=dialect,
            bodies=[body(draft) for draft in work.good],
            times=_times(of.rng, work.start),
            sessions=sessions,
        )
        yield good
        yield replace(
            good,
            name=f"{dialect}/{cause}/log-{name}",
            bodies=[each.body for each in written],
            cause=cause,
            also=work.also,
            place=work.place,
            pointer=at,
            evidence=work.evidence,
            twin=good.bodies,
        )


def _times(rng: random.Random, start: datetime) -> list[float]:
    """Half a minute apart, so that nothing expires."""
    now, found = start, []
    for _ in range(REQUESTS):
        found.append(now.timestamp())
        now += timedelta(seconds=rng.randint(20, 40))
    return found


def _interleaved(of: Scene, sessions: Sequence[Sequence[Draft]]) -> tuple[list[Draft], list[str]]:
    """In one order of sending, and the session that each is of."""
    order = [number for number, each in enumerate(sessions) for _ in each]
    of.rng.shuffle(order)
    left = [iter(each) for each in sessions]
    return [next(left[number]) for number in order], [f"s{number}" for number in order]


def _helpdesk(of: Scene) -> Work:
    """Single questions; a clock in the second paragraph."""
    good = fan(of, REQUESTS, tools=3)
    lines, shown = values(Cause.CLOCK, "iso-offset", of.rng, REQUESTS)
    bad = [_second(draft, line) for draft, line in zip(good, lines, strict=True)]
    return Work(good, bad, ("system", 0), "system", shown, LOST | {Cause.DATE})


def _second(draft: Draft, line: str) -> Draft:
    return draft.with_system(lambda text: text.replace("\n\n", f"\n\n{line}\n\n", 1))


def _agents(of: Scene) -> Work:
    """Four agents; tools come from a set and stand in another order in each request."""
    system = of.system()
    tools = of.tools(5)
    good, names = _interleaved(
        of,
        [
            [replace(draft, tools=tools) for draft in session(of, 10, tools=2, system=system)]
            for _ in range(4)
        ],
    )
    bad = [
        replace(draft, tools=tools[number % 5 :] + tools[: number % 5])
        for number, draft in enumerate(good)
    ]
    return Work(good, bad, ("tool", 0), "tool", sessions=names)


def _lookup(of: Scene) -> Work:
    """What is found for each question stands before the rules."""
    rules, questions = of.system(), of.writer.several(REQUESTS)
    found = ["\n\n".join(of.writer.documents(2, 60)) for _ in questions]
    good = [
        of.draft((Text(rules, of.edge),), (says(f"{documents}\n\n{question}"),))
        for documents, question in zip(found, questions, strict=True)
    ]
    bad = [
        of.draft((Text(f"{documents}\n\n{rules}", of.edge),), (says(question),))
        for documents, question in zip(found, questions, strict=True)
    ]
    return Work(good, bad, ("system", 0), "system", found, LOST)


def _midnight(of: Scene) -> Work:
    """Eight chats over midnight, with the date in the system prompt."""
    system = of.system()
    good, names = _interleaved(of, [session(of, 5, system=system) for _ in range(8)])
    lines, shown = values(Cause.DATE, "chinese", of.rng, 2)
    half = REQUESTS // 2
    bad = [_second(draft, lines[number >= half]) for number, draft in enumerate(good)]
    evidence = [shown[number >= half] for number in range(REQUESTS)]
    # The change comes in the middle, some ten minutes after the start.
    start = datetime(2026, 3, 2, 23, 50, tzinfo=UTC)
    return Work(good, bad, ("system", 0), "system", evidence, LOST, names, start)


def _documents(of: Scene) -> Work:
    """Ten questions on each of four documents; an id of the request in the first line."""
    sessions = []
    for _ in range(4):
        document = of.writer.documents(1, of.enough)[0]
        text = f"{of.writer.passage(20)}\n\n{document}"
        sessions.append(fan(of, 10, system=text))
    good, names = _interleaved(of, sessions)
    lines, shown = values(Cause.IDENTIFIER, "uuid", of.rng, REQUESTS)
    bad = [
        draft.with_system(lambda text, line=line: f"{line}\n\n{text}")
        for draft, line in zip(good, lines, strict=True)
    ]
    also = LOST | {Cause.NONCE}
    return Work(good, bad, ("system", 0), "system", shown, also, names)


def _routed(of: Scene) -> Work:
    """Four coding sessions whose turns go to two models by turns."""
    system = of.system()
    tools = of.tools(4)
    sessions = [
        [replace(draft, tools=tools) for draft in session(of, 10, tools=2, system=system)]
        for _ in range(4)
    ]
    good, names = _interleaved(of, sessions)
    models = (of.model, "gpt-6.1-sol")
    bad = [
        replace(draft, model=models[names[:number].count(name) % 2])
        for number, (draft, name) in enumerate(zip(good, names, strict=True))
    ]
    return Work(good, bad, "/model", sessions=names)


def _tenants(of: Scene) -> Work:
    """Two prompts, twenty questions each; nobody marks them."""
    good, names = _interleaved(of, [fan(of, 20, tools=2), fan(of, 20, tools=3)])
    return Work(good, [draft.unmarked() for draft in good], sessions=names)


def _batch(of: Scene) -> Work:
    """One prompt, a key for each request."""
    plain = fan(of, REQUESTS)
    good = [draft.with_fields(prompt_cache_key="batch") for draft in plain]
    bad = [draft.with_fields(prompt_cache_key="job-" + hexadecimal(of.rng, 10)) for draft in plain]
    return Work(good, bad, "/prompt_cache_key")


def _long_chats(of: Scene) -> Work:
    """Two long chats; only the latest nine messages are sent."""
    sessions = [session(of, 20) for _ in range(2)]
    good, names = _interleaved(of, sessions)
    bad = [replace(draft, turns=_latest(draft.turns)) for draft in good]
    return Work(good, bad, ("turn", 0, 0), "user", sessions=names)


def _latest(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    return turns[max(0, len(turns) - 9) :]


WORKS: Mapping[str, tuple[Dialect, Cause, Language | None, str | None, Callable[[Scene], Work]]] = {
    "helpdesk": ("anthropic", Cause.CLOCK, "en", "claude-sonnet-4-5", _helpdesk),
    "agents": ("anthropic", Cause.TOOL_ORDER, None, "claude-opus-5-5", _agents),
    "lookup": ("chat", Cause.RETRIEVAL, "en", "gpt-5.4", _lookup),
    "midnight": ("deepseek", Cause.DATE, "zh", None, _midnight),
    "documents": ("gemini", Cause.IDENTIFIER, None, "gemini-2.5-flash", _documents),
    "routed": ("responses", Cause.MODEL, None, "gpt-5.6-sol", _routed),
    "tenants": ("anthropic", Cause.NO_MARKER, None, "claude-sonnet-4-6", _tenants),
    "batch": ("chat", Cause.CACHE_KEY, None, "gpt-5.6-terra", _batch),
    "long-chats": ("chat", Cause.WINDOW, "en", "gpt-4.1", _long_chats),
}
