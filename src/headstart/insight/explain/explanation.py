"""All that is to be said of one request."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from headstart.contracts.prompt import Kind, Prompt
from headstart.insight.asked.asked import Asked
from headstart.insight.explain.diagnosed import Diagnosed, diagnosed
from headstart.insight.explain.exact import Rendering
from headstart.insight.explain.history import Told
from headstart.insight.explain.money import Money, money
from headstart.insight.explain.place import Place, place
from headstart.insight.explain.plain import Plain, Spaced, Step, namespace, play, walk
from headstart.insight.explain.triage import Triage, triage
from headstart.insight.explain.verdict import Verdict, judge
from headstart.ledger import PriceBook

SPOKEN: tuple[Kind, ...] = ("assistant", "thinking", "tool_use")
"""What an answer is made of when it comes back."""
How = Literal["measured", "derived", "estimated"]
"""A number: as somebody counted it; worked out from what was; or by a rule of thumb."""


@dataclass(frozen=True, slots=True)
class Counting:
    """How tokens were counted."""

    how: How
    method: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """One request, and the earlier one it is compared with."""

    told: Told
    verdict: Verdict
    counting: Counting
    place: Place | None
    """None where there is nothing to compare with."""
    message: int | None
    """Of the messages that the chat template was given: the server's report counts so."""
    plain: Plain
    block_size: int
    money: Money
    diagnosed: Diagnosed | None
    steps: Sequence[Step] | None
    triage: Triage | None

    @property
    def asked(self) -> Asked:
        """The request."""
        return self.told.asked

    @property
    def block(self) -> int:
        """The index of the block in which the difference lies."""
        return self.plain.at // self.block_size


Renderings = tuple[Rendering | None, Rendering]
"""The earlier prompt, if there is one, and the later, by a server."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for."""

    block_size: int = 16
    walk: bool = False
    triage: bool = False
    now: float = 0.0
    """For the price of requests without a time."""


def explain(
    told: Told,
    counting: Counting,
    prices: PriceBook,
    wanted: Wanted,
    renderings: Renderings | None = None,
    before: Prompt | None = None,
) -> Explanation:
    """`before`: the earlier prompt, counted like this one. `renderings`: both, by a server."""
    asked, earlier = told.asked, told.earlier
    verdict = judge(told)
    prompts = _plain_prompts(told, before, wanted.block_size, renderings)
    plain = play(*prompts)
    return Explanation(
        told,
        verdict,
        counting,
        None if earlier is None else place(earlier, asked, told.found, _marked(told, verdict)),
        None if renderings is None else renderings[1].message(plain.at),
        plain,
        wanted.block_size,
        money(told, verdict.lost, prices, wanted.now),
        None if before is None else diagnosed(before, told.rehearsed),
        walk(*prompts) if wanted.walk else None,
        triage(earlier, asked) if wanted.triage and earlier is not None else None,
    )


def _marked(told: Told, verdict: Verdict) -> str:
    """Where the mark is, if a mark is at fault."""
    misplaced = told.misplaced
    fault = misplaced is not None and misplaced.cause is verdict.cause
    return told.address if fault or told.rehearsed.refusal is not None else ""


def _plain_prompts(
    told: Told, before: Prompt | None, size: int, renderings: Renderings | None
) -> tuple[Spaced | None, Spaced]:
    """Both with the namespaces in which a plain cache would look for them.

    On our server a model's names share KV, and adapters don't.
    """
    rendered = renderings or (None, None)
    other = _spaced(told.rehearsed.prompt, told.asked, size, rendered[1])
    if before is None or told.earlier is None:
        return None, other
    space, ids = _spaced(before, told.earlier, size, rendered[0])
    return (space, [*ids, *_answer(told, ids)]), other


def _answer(told: Told, before: Sequence[int]) -> Sequence[int]:
    """Of the earlier answer what is cached too, where the conversation goes on with it.

    All but its last token, which was never computed.
    """
    earlier, prompt = told.earlier, told.rehearsed.prompt
    if earlier is None or earlier.account is None:
        return ()
    first = len(earlier.pieces)
    answer = list(takewhile(lambda piece: piece.kind in SPOKEN, told.asked.pieces[first:]))
    begin = len(before)
    if not answer or list(prompt.ids[:begin]) != list(before):
        return ()
    end = min(begin + max(0, earlier.account.output - 1), prompt.ends[first + len(answer) - 1])
    return prompt.ids[begin:end]


def _spaced(prompt: Prompt, asked: Asked, size: int, rendering: Rendering | None) -> Spaced:
    salt = asked.body.get("cache_salt")
    said = salt if isinstance(salt, str) else None
    if rendering is None:
        return namespace(asked.model, asked.tenant, said, size), prompt.ids
    return namespace("", asked.tenant, said, size, rendering.adapter), prompt.ids
