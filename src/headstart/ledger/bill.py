"""What an account costs, what it would cost without a cache, and when a write has paid for itself.

Money is decimal dollars and never rounded here; only rent, which divides by 3,600 seconds, ends
after 28 digits. None is "unknown", never 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from headstart.ledger.account import Account
from headstart.ledger.price import Rates
from headstart.ledger.rules import Profile

MILLION = 1_000_000
HOUR = 3600


@dataclass(frozen=True, slots=True)
class Bill:
    """Dollars for one account."""

    paid: Decimal
    plain: Decimal
    """The same without a cache: the whole prompt at the input price, no rent, and nothing for a
    request that only warms the cache."""
    rent: Decimal
    """The part of `paid` that is storage."""
    break_even: Mapping[str, Decimal | None]
    """Reads after which a write is paid back, by each lifetime that was written; None is never."""

    @property
    def saved(self) -> Decimal:
        """Negative where writes and rent cost more than reads saved."""
        return self.plain - self.paid


def break_even(
    write: Decimal, read: Decimal, plain: Decimal = Decimal(1), *, warms: bool = False
) -> Decimal | None:
    """How often a written prefix must be read before it costs less than without a cache.

    write + k * read < plain + k * plain, so k > (write - plain) / (plain - read); None if no k will
    do. Prices, or multipliers of the plain price. 1.25 and 0.1 give 0.25 / 0.9. A write that only
    warms stands against nothing: k > write / (plain - read).
    """
    premium = write if warms else write - plain
    if premium <= 0:
        return Decimal(0)
    return premium / (plain - read) if read < plain else None


def bill(account: Account, rates: Rates, profile: Profile, day: date) -> Bill | None:
    """The bill of `account`; None where it holds something whose price is unknown."""
    read = _read_price(rates, profile)
    written = {name: tokens for name, tokens in account.written.items() if tokens}
    writes = {name: _write_price(name, rates, profile) for name in written}
    rent = _rent(account, profile, day)
    if rent is None or None in writes.values() or (read is None and account.read):
        return None
    known = {name: price for name, price in writes.items() if price is not None}
    tokens = account.fresh * rates.input + account.output * rates.output
    tokens += sum(written[name] * price for name, price in known.items())
    if read is not None:
        tokens += account.read * read
    plain = 0 if account.warms else account.prompt * rates.input + account.output * rates.output
    return Bill(
        paid=tokens / MILLION + rent,
        plain=Decimal(plain) / MILLION,
        rent=rent,
        break_even={
            name: None
            if read is None
            else break_even(price, read, rates.input, warms=account.warms)
            for name, price in known.items()
        },
    )


def _read_price(rates: Rates, profile: Profile) -> Decimal | None:
    if rates.read is not None:
        return rates.read
    return None if profile.read is None else rates.input * profile.read


def _write_price(name: str, rates: Rates, profile: Profile) -> Decimal | None:
    if name in rates.written:
        return rates.written[name]
    lifetime = profile.lifetime(name)
    return None if lifetime is None else rates.input * lifetime.write


def _rent(account: Account, profile: Profile, day: date) -> Decimal | None:
    if not account.token_seconds:
        return Decimal(0)
    price = profile.rent(day)
    return None if price is None else account.token_seconds * price / (MILLION * HOUR)
