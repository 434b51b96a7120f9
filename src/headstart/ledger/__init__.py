"""Token accounts, prices, savings and break-even."""

from headstart.ledger.account import Account
from headstart.ledger.bill import Bill, bill, break_even
from headstart.ledger.price import Price, Prices, PriceSource, Rates
from headstart.ledger.price_file import PriceError, PriceFile
from headstart.ledger.prices import PriceBook
from headstart.ledger.rules import Lifetime, Profile, Rent, Rules, Source

__all__ = [
    "Account",
    "Bill",
    "Lifetime",
    "Price",
    "PriceBook",
    "PriceError",
    "PriceFile",
    "PriceSource",
    "Prices",
    "Profile",
    "Rates",
    "Rent",
    "Rules",
    "Source",
    "bill",
    "break_even",
]
