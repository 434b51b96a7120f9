"""From a row of the ledger to its bill: rules and prices together."""

from datetime import UTC, datetime

from headstart.ledger.bill import Bill, bill
from headstart.ledger.prices import PriceBook
from headstart.ledger.row import Row
from headstart.ledger.rules import Rules


class Tariff:
    """Bills rows. Prices are loaded when first needed: `load` does it before anyone waits."""

    def __init__(self, rules: Rules, prices: PriceBook) -> None:
        self._rules = rules
        self._prices = prices

    def load(self) -> None:
        """Read all price lists, which takes a quarter of a second and more."""
        self._prices.find("openai", "")  # A name that no list has makes every list look.

    def bill(self, row: Row) -> Bill | None:
        """None where the contract has no vendor, or what the row holds has no known price."""
        vendor = self._rules.vendor(row.contract)
        if vendor is None:
            return None
        moment = datetime.fromtimestamp(row.time, UTC)
        price = self._prices.at(vendor, row.model, moment)
        if price is None:
            return None
        profile = self._rules.profile(vendor, row.model)
        return bill(row.account, price.rates(row.account.prompt), profile, moment.date())
