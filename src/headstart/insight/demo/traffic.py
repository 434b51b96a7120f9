"""Four made-up applications: two break their prefix, one doesn't, one scatters it."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from headstart.insight.demo.prose import passage, question, rules

BEGIN = datetime(2026, 11, 30, 9, 0, tzinfo=UTC).timestamp()
SEED = 7
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request, and what a log has beside it."""

    time: float
    session: str
    tenant: str
    body: Body

    def line(self) -> dict[str, Any]:
        """As `headstart` records it."""
        beside = {"time": self.time, "session": self.session, "tenant": self.tenant}
        return {**beside, "body": self.body}


@dataclass(frozen=True, slots=True)
class App:
    """An application, and what is known of it."""

    name: str
    about: str
    traffic: Callable[[random.Random], Iterator[Sent]]

    def sent(self, seed: int = SEED) -> list[Sent]:
        """Its requests in the order of time; the same for the same seed."""
        return sorted(self.traffic(random.Random(f"{seed} {self.name}")), key=lambda s: s.time)


def _support(rng: random.Random) -> Iterator[Sent]:
    handbook = rules(rng, 110)
    for number in range(6):
        messages: list[Body] = []
        time = BEGIN + 97 * number
        for _ in range(4):
            time += rng.uniform(20, 50)
            messages.append({"role": "user", "content": question(rng)})
            clock = datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S")
            text = f"The current time is {clock}.\nYou answer for a shop. Follow the handbook.\n"
            system = [{"type": "text", "text": text + handbook, "cache_control": EPHEMERAL}]
            yield Sent(
                time,
                f"support-{number}",
                "shop",
                {
                    "model": "claude-sonnet-4-5",
                    "max_tokens": 300,
                    "system": system,
                    "messages": [dict(each) for each in messages],
                },
            )
            messages.append({"role": "assistant", "content": passage(rng, 3)})


EPHEMERAL = {"type": "ephemeral"}


def _rag(rng: random.Random) -> Iterator[Sent]:
    instructions = rules(rng, 120)
    shelf = [passage(rng, 14) for _ in range(12)]
    for number in range(20):
        found = "\n".join(f"<document>{text}</document>" for text in rng.sample(shelf, 3))
        messages = [
            {"role": "system", "content": f"{found}\nAnswer from the documents.\n{instructions}"},
            {"role": "user", "content": question(rng)},
        ]
        body = {"model": "gpt-4.1", "messages": messages}
        yield Sent(BEGIN + 31 * number, f"question-{number}", "search", body)


def _healthy(rng: random.Random) -> Iterator[Sent]:
    system = [
        {
            "type": "text",
            "text": f"You look after machines.\n{rules(rng, 120)}",
            "cache_control": EPHEMERAL,
        }
    ]
    for number in range(3):
        messages: list[Body] = []
        time = BEGIN + 61 * number
        for _ in range(6):
            time += rng.uniform(15, 60)
            asked = {"type": "text", "text": question(rng)}
            marked = {"role": "user", "content": [{**asked, "cache_control": EPHEMERAL}]}
            yield Sent(
                time,
                f"agent-{number}",
                "plant",
                {
                    "model": "claude-opus-5",
                    "max_tokens": 300,
                    "system": system,
                    "messages": [*messages, marked],
                },
            )
            messages.append({"role": "user", "content": [asked]})
            messages.append({"role": "assistant", "content": passage(rng, 4)})


def _router(rng: random.Random) -> Iterator[Sent]:
    system = {"role": "system", "content": rules(rng, 130)}
    for number in range(4):
        messages: list[Body] = [system]
        time = BEGIN + 43 * number
        for turn in range(5):
            time += rng.uniform(20, 60)
            messages.append({"role": "user", "content": question(rng)})
            model = ("gpt-4.1", "gpt-4.1-mini")[(turn + number) % 2]
            body = {"model": model, "messages": list(messages)}
            yield Sent(time, f"talk-{number}", "desk", body)
            messages.append({"role": "assistant", "content": passage(rng, 2)})


APPS: Mapping[str, App] = {
    app.name: app
    for app in (
        App("support", "a support agent with a clock in its first line", _support),
        App("rag", "questions on documents, which stand in front of the instructions", _rag),
        App("healthy", "an agent that only appends", _healthy),
        App("router", "conversations that a router sends to two models by turns", _router),
    )
}
"""By the name of its log."""
CODE = '''"""The support agent's source: what headstart lint-code reads."""

from datetime import datetime

from anthropic import Anthropic

HANDBOOK = open("handbook.md").read()


def answer(client: Anthropic, messages: list) -> str:
    now = datetime.now().isoformat()
    reply = client.messages.create(
        model="claude-sonnet-4-5",
        max_tokens=300,
        system=f"The current time is {now}.\\n{HANDBOOK}",
        messages=messages,
    )
    return reply.content[0].text
'''
