"""Token accounts, prices, savings and break-even."""

from headstart.ledger.account import Account
from headstart.ledger.bill import Bill, bill, break_even
from headstart.ledger.period import since
from headstart.ledger.price import Price, Prices, PriceSource, Rates
from headstart.ledger.price_file import PriceError, PriceFile
from headstart.ledger.prices import PriceBook
from headstart.ledger.render import as_csv, as_dict, as_json
from headstart.ledger.report import BYS, By, Group, Report, report
from headstart.ledger.row import Row
from headstart.ledger.rules import Lifetime, Profile, Rent, Rules, Source
from headstart.ledger.schema import LedgerError, default_path
from headstart.ledger.store import Counts, Store
from headstart.ledger.tariff import Tariff

__all__ = [
    "BYS",
    "Account",
    "Bill",
    "By",
    "Counts",
    "Group",
    "LedgerError",
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
    "Report",
    "Row",
    "Rules",
    "Source",
    "Store",
    "Tariff",
    "as_csv",
    "as_dict",
    "as_json",
    "bill",
    "break_even",
    "default_path",
    "report",
    "since",
]
