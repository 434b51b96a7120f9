"""What recorded requests cost, on their day or on a day that was named."""

from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.detect import plain_name
from headstart.ledger import (
    Account,
    Bill,
    PriceBook,
    PriceFile,
    Prices,
    Profile,
    Rates,
    Rules,
    bill,
)

PLAIN_TIERS = ("", "default", "standard", "auto")
"""What vendors call requests at their list price. Others have prices that no list here knows."""

MOST_NAMES = 4096


class Pricing:
    """Rules and prices together. Unknown prices are None, never 0."""

    def __init__(self, rules: Rules, file: Path | None, as_of: date | None, today: date) -> None:
        """`file`: the user's own prices, which go before all others. Raises PriceError."""
        self.rules = rules
        self.as_of = as_of
        self._today = today
        self._names: dict[str, str] = {}
        self._all = PriceBook.standard(file)
        self._own = PriceBook([] if file is None else [PriceFile.read(file)])

    def _name(self, model: str) -> str:
        """As its vendor writes it."""
        name = self._names.get(model)
        if name is None:
            if len(self._names) >= MOST_NAMES:
                self._names.clear()
            name = self._names[model] = plain_name(model)
        return name

    def profile(self, asked: Asked) -> Profile:
        """The vendor's rules for its model."""
        return self.rules.profile(asked.vendor, self._name(asked.model))

    def moment(self, seconds: float | None) -> datetime:
        """Whose prices hold: the day that was named, else the request's own time, else today."""
        if self.as_of is None and seconds is not None:
            return datetime.fromtimestamp(seconds, UTC)
        return datetime.combine(self.as_of or self._today, time(12), UTC)

    def rates(self, asked: Asked, prompt: int) -> Rates | None:
        """For a prompt of so many tokens."""
        prices = self._prices(asked)
        price = None if prices is None else prices.at(self.moment(asked.time))
        return None if price is None else price.rates(prompt)

    def source(self, asked: Asked) -> str | None:
        """Where the price of its model comes from, and of which day that list is."""
        prices = self._prices(asked)
        return None if prices is None else prices.source

    def _prices(self, asked: Asked) -> Prices | None:
        book = self._all if asked.tier in PLAIN_TIERS else self._own
        named = book.find(asked.vendor, asked.model)
        return named or book.find(asked.vendor, self._name(asked.model))

    def bill(self, asked: Asked, account: Account) -> Bill | None:
        """None where its price is unknown."""
        rates = self.rates(asked, account.prompt)
        if rates is None:
            return None
        return bill(account, rates, self.profile(asked), self.moment(asked.time).date())

    def saving(
        self, asked: Asked, account: Account, now: Bill | None, tokens: int
    ) -> Decimal | None:
        """What `now` would be less if `tokens` more had been read, not written or computed."""
        better = None if now is None else self.bill(asked, reading(account, tokens))
        return None if now is None or better is None else now.paid - better.paid


def reading(account: Account, tokens: int) -> Account:
    """The same with so many tokens more read: first of those that were written, then of the rest.

    What is written comes before what isn't, and the beginning of a prompt is what is missed.
    """
    left = min(tokens, account.prompt - account.read)
    read = account.read + left
    written = {}
    for name, count in account.written.items():
        taken = min(count, left)
        left -= taken
        written[name] = count - taken
    return replace(account, read=read, written=written)
