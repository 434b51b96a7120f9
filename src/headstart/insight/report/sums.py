"""Tokens and money of many requests, added up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from headstart.ledger import Account, Bill, Group


@dataclass(slots=True)
class Sums:
    """Of requests that have something in common. Rates are of tokens, never means of rates."""

    requests: int = 0
    prompt: int = 0
    read: int = 0
    written: dict[str, int] = field(default_factory=dict)
    """By lifetime."""
    output: int = 0
    token_seconds: int = 0
    reusable: int = 0
    """What a cache that forgets nothing would have read, of the requests of which that is known."""
    known: int = 0
    """Prompt tokens of those requests."""
    priced: int = 0
    """Requests whose price is known; money is of these alone."""
    paid: Decimal = Decimal(0)
    plain: Decimal = Decimal(0)
    """What the same tokens cost without a cache."""
    rent: Decimal = Decimal(0)

    def add(self, account: Account, bill: Bill | None, reusable: int | None) -> None:
        """One more request."""
        self.requests += 1
        self.prompt += account.prompt
        self.read += account.read
        self.output += account.output
        self.token_seconds += account.token_seconds
        self._write(account.written)
        if reusable is not None:
            self.reusable += reusable
            self.known += account.prompt
        if bill is not None:
            self.priced += 1
            self.paid += bill.paid
            self.plain += bill.plain
            self.rent += bill.rent

    def add_group(self, group: Group) -> None:
        """What a ledger has summed up already."""
        self.requests += group.requests
        self.prompt += group.prompt
        self.read += group.read
        self.output += group.output
        self.token_seconds += group.token_seconds
        self._write({name: each.tokens for name, each in group.written.items()})
        self.reusable += group.reusable_ever
        self.known += group.ceiling_prompt
        self.priced += group.priced
        self.paid += group.paid or 0
        self.plain += group.plain or 0
        self.rent += group.rent or 0

    def _write(self, written: Mapping[str, int]) -> None:
        for name, tokens in written.items():
            if tokens:
                self.written[name] = self.written.get(name, 0) + tokens

    @property
    def all_written(self) -> int:
        """Of all lifetimes."""
        return sum(self.written.values())

    @property
    def fresh(self) -> int:
        """Prompt tokens computed at the plain price."""
        return self.prompt - self.read - self.all_written

    @property
    def hit_rate(self) -> float | None:
        """Read of all prompt tokens; None without tokens."""
        return self.read / self.prompt if self.prompt else None

    @property
    def ceiling(self) -> float | None:
        """The same for a cache that forgets nothing, where it is known."""
        return self.reusable / self.known if self.known else None

    @property
    def money(self) -> tuple[Decimal, Decimal, Decimal] | None:
        """Paid, without a cache, saved; None if no price is known."""
        return (self.paid, self.plain, self.plain - self.paid) if self.priced else None
