"""What requests read and cost in an order, by rehearsing them under the vendor's contract."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

from msgspec import structs

from headstart.contracts.prompt import Mark, Prompt, Wishes
from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY
from headstart.insight.layout.edges import BY_MARKS
from headstart.insight.layout.rearrange import Placed, request
from headstart.insight.layout.segment import Segment
from headstart.insight.rehearsal import Rehearsal
from headstart.ledger import Account, PriceBook, Profile, Rates, Rules, bill


@dataclass(frozen=True, slots=True)
class Cost:
    """Of all requests together."""

    prompt: int
    read: int
    written: int
    weight: Decimal
    """In tokens at the plain price; reads are free where the rules tell no multiplier."""
    paid: Decimal | None
    """Dollars; None where the price is unknown."""
    refused: int
    """Requests that the vendor would refuse."""
    resent: int
    """Requests that begin as an earlier one did, for at least the vendor's minimum."""

    @property
    def rate(self) -> float:
        """Of tokens."""
        return self.read / self.prompt if self.prompt else 0.0


@dataclass(frozen=True, slots=True)
class Marking:
    """A way of marking."""

    edges: bool = False
    """The end of each segment in front of the conversation."""
    end: bool = False
    """The end of the conversation, for the next turn."""
    lifetime: str | None = None
    """Of the edges; None is the default."""


class Prover:
    """Rehearses. Money is as of `moment` where a request has no time."""

    def __init__(
        self,
        prompt_of: Callable[[Asked], Prompt],
        prices: PriceBook,
        moment: datetime,
        rules: Rules,
        contract: str | None = None,
    ) -> None:
        self._prompt_of = prompt_of
        self._prices = prices
        self._moment = moment
        self._rules = rules
        self._contract = contract

    def profile(self, asked: Asked) -> Profile:
        """The rules that hold for a request."""
        return self._rules.profile(self._contract or asked.vendor, asked.model)

    def cost(self, requests: Iterable[Asked]) -> Cost:
        """As they are, in this order."""
        return self._played((asked, self._prompt_of(asked), None) for asked in requests)[0]

    def _played(
        self, requests: Iterable[tuple[Asked, Prompt, int | None]]
    ) -> tuple[Cost, Sequence[int]]:
        """Requests with their prompts, and what each has in common with an earlier one where that
        is known; it is given back."""
        rehearsal = Rehearsal(self._prompt_of, self._rules, self._contract)
        common: list[int] = []
        total = Account(0, 0)
        weight = Decimal(0)
        paid: Decimal | None = Decimal(0)
        refused = resent = 0
        for asked, prompt, known in requests:
            rehearsed = rehearsal.play(asked, prompt, known)
            common.append(rehearsed.reused)
            account, profile = rehearsed.account, rehearsed.profile
            refused += rehearsed.plan is None
            resent += rehearsed.reused >= max(1, profile.minimum)
            total += account
            weight += _weight(account, profile)
            price = self._paid(asked, account, profile)
            paid = None if paid is None or price is None else paid + price
        written = sum(total.written.values())
        cost = Cost(total.prompt, total.read, written, weight, paid, refused, resent)
        return cost, common

    def best(
        self, requests: Sequence[Asked], order: Sequence[Sequence[Placed]], profile: Profile
    ) -> tuple[Marking, Cost]:
        """The cheapest way of marking this order, and what it costs."""
        found: list[tuple[Marking, Cost]] = []
        bare = [request(asked, placed) for asked, placed in zip(requests, order, strict=True)]
        prompts = [*map(self._prompt_of, bare)]
        ends = [edge_indices(placed, profile) for placed in order]
        common: Sequence[int | None] = [None] * len(bare)
        for marking in markings(profile):
            told = (
                _marked(prompt, _marks(placed, edges, profile, marking), profile, marking)
                for prompt, placed, edges in zip(prompts, order, ends, strict=True)
            )
            cost, reused = self._played(zip(bare, told, common, strict=True))
            if not cost.refused:  # Those that are refused begin nothing.
                common = reused
            found.append((marking, cost))
        return min(found, key=lambda each: (each[1].refused, each[1].weight))

    def rates(self, asked: Asked) -> Rates | None:
        """What a short prompt like this one costs; None where it is unknown."""
        moment = self._moment if asked.time is None else datetime.fromtimestamp(asked.time, UTC)
        price = self._prices.at(self.profile(asked).vendor, asked.model, moment)
        return None if price is None else price.rates(0)

    def _paid(self, asked: Asked, account: Account, profile: Profile) -> Decimal | None:
        moment = self._moment if asked.time is None else datetime.fromtimestamp(asked.time, UTC)
        price = self._prices.at(profile.vendor, asked.model, moment)
        if price is None:
            return None
        found = bill(account, price.rates(account.prompt), profile, moment.date())
        return None if found is None else found.paid


def markings(profile: Profile) -> list[Marking]:
    """All that are tried."""
    if profile.contract not in BY_MARKS:
        return [Marking()]
    found = [Marking()]
    for lifetime in (None, *list(profile.lifetimes)[1:]):
        found += [Marking(True, False, lifetime), Marking(True, True, lifetime)]
    return found


def marked(prompt: Prompt, placed: Sequence[Placed], profile: Profile, marking: Marking) -> Prompt:
    """The prompt of a request in an order, marked, and with nothing else written where that can be
    said."""
    marks = _marks(placed, edge_indices(placed, profile), profile, marking)
    return _marked(prompt, marks, profile, marking)


def _marked(
    prompt: Prompt, marks: Mapping[int, Mark], profile: Profile, marking: Marking
) -> Prompt:
    wishes = prompt.wishes
    if profile.contract == "anthropic":
        wishes = Wishes()
    elif profile.contract == "openai_breakpoints":
        wishes = Wishes("explicit" if marking.edges or marking.end else "implicit", told=True)
    blocks = [*prompt.blocks]
    for index, mark in marks.items():
        blocks[index] = structs.replace(blocks[index], mark=mark)
    partition = "" if profile.vendor == "openai" else prompt.partition
    return replace(prompt, blocks=blocks, wishes=wishes, partition=partition)


def _marks(
    placed: Sequence[Placed], edges: Sequence[int], profile: Profile, marking: Marking
) -> dict[int, Mark]:
    """By the index of the piece that carries it."""
    ends = edges if marking.edges else ()
    marks = {index: Mark(marking.lifetime) for index in ends[: (profile.marks or 0) - marking.end]}
    if marking.end:
        last = max(
            (
                index
                for index, each in enumerate(placed)
                if not each.moved and each.piece.kind not in EARLY and each.piece.markable
            ),
            default=None,
        )
        if last is not None:
            marks.setdefault(last, Mark())
    return marks


def edge_indices(placed: Sequence[Placed], profile: Profile) -> list[int]:
    """The last markable piece of each segment in front of what is asked."""
    ends = []
    for segment in (Segment.ALWAYS, Segment.DAILY, Segment.SESSION):
        last = None
        for index, each in enumerate(placed):
            if each.segment > segment:
                break
            spoken = each.piece.kind not in EARLY and segment is Segment.SESSION
            unmarkable = profile.vendor == "openai" and each.piece.kind in ("tool", "assistant")
            if each.segment is segment and each.piece.markable and not spoken and not unmarkable:
                last = index
        if last is not None:
            ends.append(last)
    return ends


def _weight(account: Account, profile: Profile) -> Decimal:
    total = account.fresh + account.read * (profile.read or Decimal(0))
    for name, tokens in account.written.items():
        lifetime = profile.lifetime(name)
        total += tokens * (lifetime.write if lifetime else 1)
    return Decimal(total)
