"""What a prefix costs with a cache and without, by the ledger's rules, prices and bills."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.reuse import Prompt
from headstart.ledger import (
    Account,
    Lifetime,
    PriceBook,
    Profile,
    Rates,
    Rent,
    Rules,
    bill,
    break_even,
)

MILLION = 1_000_000
HOUR = 3600
USES = (1, 2, 3, 4, 20)


class NoPrice(Exception):
    """Nobody knows what this model costs. `str()` is one line for people."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One model's prices and cache rules on one day."""

    name: str
    rates: Rates
    profile: Profile
    lifetime: str | None
    """The vendor's name of the one that is written; None where nothing is paid for."""
    day: date
    source: str
    dollars: bool = True
    """False: amounts are multiples of one plain prefix."""

    @property
    def write(self) -> Decimal:
        """Dollars for a million tokens, as `read` is."""
        if self.lifetime is None:
            return self.rates.input
        if self.lifetime in self.rates.written:
            return self.rates.written[self.lifetime]
        return self.rates.input * self.profile.lifetimes[self.lifetime].write

    @property
    def read(self) -> Decimal:
        """Without a discount it is the input price."""
        if self.rates.read is not None:
            return self.rates.read
        return self.rates.input * (Decimal(1) if self.profile.read is None else self.profile.read)

    @property
    def seconds(self) -> float | None:
        """How long a prefix lives without use."""
        return None if self.lifetime is None else self.profile.lifetimes[self.lifetime].seconds

    def cached(self, prompt: Prompt) -> int:
        """Tokens of the prefix that the vendor reads back: none below the minimum."""
        if prompt.prefix < self.profile.minimum:
            return 0
        return prompt.prefix // self.profile.unit * self.profile.unit


@dataclass(frozen=True, slots=True)
class Use:
    """The input of so many prompts that share a prefix. Dollars, or multiples of one prefix."""

    uses: int
    prefix: Decimal
    prefix_plain: Decimal
    prompts: Decimal
    prompts_plain: Decimal

    @property
    def prefix_saved(self) -> Decimal | None:
        """Share of the prefix's price; negative where the cache costs more, None of nothing."""
        return 1 - self.prefix / self.prefix_plain if self.prefix_plain else None

    @property
    def prompts_saved(self) -> Decimal | None:
        """The same of whole prompts."""
        return 1 - self.prompts / self.prompts_plain if self.prompts_plain else None


def named_offer(
    name: str, book: PriceBook, rules: Rules, moment: datetime, lifetime: str | None, tokens: int
) -> Offer:
    """`VENDOR/MODEL` at `moment`, for prompts of `tokens`. Raises PlanError, NoPrice."""
    vendor, slash, model = name.partition("/")
    if not (slash and model) or vendor not in rules.vendors:
        raise PlanError(
            f"'{name}' is not VENDOR/MODEL with a vendor of {', '.join(rules.vendors)}."
        )
    profile = rules.profile(vendor, model)
    chosen = lifetime or profile.default_lifetime
    if chosen is not None and chosen not in profile.lifetimes:
        known = ", ".join(profile.lifetimes) or "none"
        raise PlanError(f"{name} has no lifetime '{chosen}'; it has {known}.")
    prices = book.find(vendor, model)
    price = None if prices is None else prices.at(moment)
    if prices is None or price is None:
        raise NoPrice(f"The price of {name} is unknown; give one with --prices FILE.")
    day = moment.date()
    return Offer(name, price.rates(tokens), profile, chosen, day, prices.source)


def plain_offer(
    *,
    write: Decimal,
    read: Decimal,
    rent: Decimal,
    seconds: float,
    input_price: Decimal | None,
    day: date,
    given: bool,
) -> Offer:
    """Multipliers of an input price, under no vendor's rules."""
    profile = Profile(
        vendor="",
        contract="",
        minimum=0,
        lifetimes={_PLAIN: Lifetime(seconds, write)},
        read=read,
        rents=(Rent(rent),) if rent else (),
    )
    input_ = Decimal(1) if input_price is None else input_price
    source = "given" if given else "the usual multipliers, of no vendor"
    return Offer(
        "multipliers", Rates(input_, input_), profile, _PLAIN, day, source, input_price is not None
    )


_PLAIN = "written"


def lives(offer: Offer, gap: float | None) -> bool:
    """Whether a prefix is still there after `gap` seconds without use."""
    return gap is None or offer.seconds is None or gap <= offer.seconds


def money(offer: Offer, prompt: Prompt, uses: Sequence[int], gap: float | None) -> Iterator[Use]:
    """The bills of so many uses, `gap` seconds apart."""
    for count in uses:
        prefix, prefix_plain = _bills(offer, Prompt(prompt.prefix, 0), count, gap)
        whole, whole_plain = _bills(offer, prompt, count, gap)
        scale = Decimal(1)
        if not offer.dollars:
            scale = MILLION / (offer.rates.input * prompt.prefix)
        amounts = (each * scale for each in (prefix, prefix_plain, whole, whole_plain))
        yield Use(count, *amounts)


def reads_to_break_even(offer: Offer, gap: float | None) -> Decimal | None:
    """Reads after which writing has paid, storage included; None is never."""
    write, read = offer.write, offer.read
    rent = offer.profile.rent(offer.day) if _pays_rent(offer) else None
    if rent and gap is not None:
        read += rent * Decimal(gap) / HOUR
    elif rent and offer.seconds is not None:
        write += rent * Decimal(offer.seconds) / HOUR
    return break_even(write, read, offer.rates.input)


def share_to_break_even(offer: Offer, gap: float | None) -> Decimal | None:
    """Of cached tokens, the share that has to be read: (w - 1) / (w - r), from hits per write."""
    reads = reads_to_break_even(offer, gap)
    return None if reads is None else reads / (1 + reads)


def _bills(offer: Offer, prompt: Prompt, uses: int, gap: float | None) -> tuple[Decimal, Decimal]:
    cached = offer.cached(prompt)
    reads = uses - 1 if lives(offer, gap) and cached else 0
    write = Account(
        prompt.tokens,
        0,
        written={} if offer.lifetime is None or not cached else {offer.lifetime: cached},
        token_seconds=round(cached * _held(offer, reads, gap)) if _pays_rent(offer) else 0,
    )
    read = Account(prompt.tokens, cached)
    paid = plain = Decimal(0)
    for account, times in ((write, uses - reads), (read, reads)):
        each = bill(account, offer.rates, offer.profile, offer.day) if times else None
        if each is not None:
            paid += each.paid * times
            plain += each.plain * times
        elif times:
            raise NoPrice(f"Part of what {offer.name} takes is unknown.")
    return paid, plain


def _held(offer: Offer, reads: int, gap: float | None) -> float:
    """Seconds that one write is kept and paid for."""
    return (offer.seconds or 0.0) if gap is None else gap * reads


def _pays_rent(offer: Offer) -> bool:
    """Storage is paid for what was made to be kept: Gemini's explicit caches, or a rent given."""
    return bool(offer.profile.rents) and offer.lifetime in (_PLAIN, "explicit")
