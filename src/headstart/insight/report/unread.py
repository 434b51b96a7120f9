"""What was paid to be written and never read: the fee is lost each time."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from headstart.insight.asked.asked import Asked
from headstart.insight.causes import Cause
from headstart.insight.report.levers import Lever
from headstart.insight.report.pricing import Pricing
from headstart.ledger import Account, Bill

SEVERAL = 2
"""Requests that write; of a single one nobody knows who will come."""
MOST = 4096


@dataclass(slots=True)
class _Group:
    lever: Lever
    read: bool = False
    explained: bool = False


class Unread:
    """Hears requests; one group for each model and beginning."""

    def __init__(self, pricing: Pricing) -> None:
        self._pricing = pricing
        self._groups: dict[tuple[str, str, str], _Group] = {}

    def hear(
        self, asked: Asked, prefix: str, account: Account, bill: Bill | None, *, explained: bool
    ) -> None:
        """One more request. `explained`: something else kept it from reading."""
        key = asked.tenant, asked.model, prefix
        if key not in self._groups and len(self._groups) >= MOST:
            return
        group = self._groups.setdefault(
            key, _Group(Lever(Cause.NEVER_READ, asked.model, prefix, first=asked.origin))
        )
        group.read = group.read or account.read > 0
        group.explained = group.explained or explained
        written = sum(account.written.values())
        if not written or group.read:
            return
        group.lever.requests += 1
        group.lever.tokens += written
        saved = self._fee(asked, account, bill)
        if saved is not None:
            group.lever.saved += saved
            group.lever.priced += 1

    def __iter__(self) -> Iterator[Lever]:
        """One for each beginning: tenants share nothing, but what they send is mended once."""
        found: dict[tuple[str, str], Lever] = {}
        for group in self._groups.values():
            lever = group.lever
            if lever.requests < SEVERAL or group.read or group.explained:
                continue
            known = found.get((lever.model, lever.prefix))
            found[lever.model, lever.prefix] = lever if known is None else known.plus(lever)
        yield from found.values()

    def _fee(self, asked: Asked, account: Account, now: Bill | None) -> Decimal | None:
        """What it would have cost less without a mark."""
        plain = None if now is None else self._pricing.bill(asked, replace(account, written={}))
        return None if now is None or plain is None else now.paid - plain.paid
