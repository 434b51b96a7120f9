"""A recording with some rewrites, played under the contracts: the proof."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.count import Counts
from headstart.insight.asked.piece import EARLY
from headstart.insight.asked.prompt import to_prompt
from headstart.insight.fix.draft import Draft
from headstart.insight.fix.guard import Crossed, guard
from headstart.insight.fix.rewrite import Rewrite
from headstart.insight.lint.marks import BY_MARKS
from headstart.insight.rehearsal import Rehearsal, Rehearsed
from headstart.ledger import PriceBook, Rules, bill

Plan = Sequence[Rewrite]
MOST_DIGESTS = 1 << 16
"""That are remembered to see which come again."""


@dataclass(slots=True)
class Score:
    """What a recording would read and cost."""

    read: int = 0
    reused: int = 0
    """What a cache without a vendor's steps and minimums would read: to the token, or to the ends
    of blocks where the contract reads to those."""
    prompt: int = 0
    refused: int = 0
    money: Decimal | None = Decimal(0)
    """Dollars for prompts; None where a price is unknown."""
    changed: Counter[str] = field(default_factory=Counter)
    """Requests by the name of the rewrite."""
    contracts: set[str] = field(default_factory=set)
    lasting: set[bytes] = field(default_factory=set)
    """Digests of pieces before the conversation that came at least twice."""


class Stopped(Exception):
    """A rewrite of a plan crossed the guard."""

    def __init__(self, rewrite: Rewrite, why: Crossed) -> None:
        super().__init__(str(why))
        self.rewrite = rewrite


class Trial:
    """Plays one recording again and again."""

    def __init__(
        self,
        requests: Callable[[], Iterable[Asked]],
        counts: Counts,
        *,
        rules: Rules,
        prices: PriceBook,
        now: datetime,
    ) -> None:
        """`now`: whose prices hold for requests without a time."""
        self._requests = requests
        self._counts = counts
        self._rules = rules
        self._prices = prices
        self._now = now

    def score(self, plan: Plan = ()) -> Score:
        """Raises Stopped."""
        score = Score()
        seen: set[bytes] = set()
        rehearsal = Rehearsal(lambda asked: to_prompt(asked, self._counts), self._rules)
        begin(plan)
        for asked in self._requests():
            new, made = rewritten(asked, plan, self._rules)
            score.changed.update(rewrite.name for rewrite in made)
            self._add(score, new, rehearsal.ask(new))
            for piece in new.pieces:
                if piece.kind not in EARLY:
                    break
                if piece.digest in seen:
                    score.lasting.add(piece.digest)
                elif len(seen) < MOST_DIGESTS:
                    seen.add(piece.digest)
        return score

    def _add(self, score: Score, asked: Asked, now: Rehearsed) -> None:
        account = now.account
        score.read += account.read
        score.reused += now.reused
        score.prompt += account.prompt
        score.refused += now.refusal is not None
        score.contracts.add(now.profile.contract)
        if score.money is None:
            return
        prices = self._prices.find(asked.vendor, asked.model)
        when = (
            self._now
            if asked.time is None
            else datetime.fromtimestamp(asked.time, self._now.tzinfo)
        )
        price = None if prices is None else prices.at(when)
        paid = None
        if price is not None:
            paid = bill(account, price.rates(account.prompt), now.profile, when.date())
        score.money = None if paid is None else score.money + paid.paid


def begin(plan: Plan) -> None:
    """The rewrites forget what they saw."""
    for rewrite in plan:
        rewrite.begin()


def rewritten(asked: Asked, plan: Plan, rules: Rules) -> tuple[Asked, list[Rewrite]]:
    """The request as the rewrites leave it, and those that changed it. Raises Stopped."""
    if not plan or asked.format == "completion":
        return asked, []
    blocks = rules.profile(asked.vendor, asked.model).contract in BY_MARKS
    draft = Draft(asked, blocks=blocks)
    made = [*_applied(draft, asked, plan)]
    return (draft.asked, made) if made else (asked, made)


def _applied(draft: Draft, asked: Asked, plan: Plan) -> Iterator[Rewrite]:
    for rewrite in plan:
        if rewrite.apply(draft):
            draft.reread()
            try:
                guard(asked, draft.asked)
            except Crossed as why:
                raise Stopped(rewrite, why) from None
            yield rewrite
