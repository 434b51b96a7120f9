"""What lost tokens cost: the vendor's bill, and the one with those tokens read."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from headstart.insight.explain.history import Told
from headstart.ledger import Account, PriceBook, bill


@dataclass(frozen=True, slots=True)
class Money:
    """Dollars; None is unknown."""

    lost: Decimal | None
    paid: Decimal | None
    """For the prompt, without an answer."""
    source: str
    """Of the prices, or why there are none."""
    day: str


def money(told: Told, lost: int, prices: PriceBook, now: float) -> Money:
    """`lost`: prompt tokens that were not read and could have been. `now`: for requests without a
    time of their own."""
    asked, profile = told.asked, told.rehearsed.profile
    moment = datetime.fromtimestamp(now if asked.time is None else asked.time, UTC)
    day = moment.date().isoformat()
    account = told.rehearsed.account
    if told.rehearsed.refusal is not None:
        return Money(Decimal(0), Decimal(0), "a request that is refused costs nothing", day)
    found = prices.find(asked.vendor, asked.model)
    price = None if found is None else found.at(moment)
    if found is None or price is None:
        name = asked.model or "no model"
        return Money(None, None, f"no price of {name} ({asked.vendor}) is known", day)
    rates = price.rates(account.prompt)
    paid = bill(account, rates, profile, moment.date())
    better = bill(_with(account, lost, profile.minimum), rates, profile, moment.date())
    if paid is None or better is None:
        return Money(None, None, f"{found.source} has no price of what was read or written", day)
    return Money(paid.paid - better.paid, paid.paid, found.source, day)


def _with(account: Account, lost: int, minimum: int) -> Account:
    """The same prompt with so many tokens more read; nothing if it would still be too short."""
    lost = min(lost, account.prompt - account.read)
    if account.read + lost < minimum:
        return account
    left, written = lost, dict(account.written)
    left -= min(left, account.fresh)
    for name in written:
        taken = min(left, written[name])
        written[name] -= taken
        left -= taken
    return Account(account.prompt, account.read + lost, account.output, written)
