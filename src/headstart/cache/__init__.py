"""The prefix cache: which blocks hold which prefix, who may use them, what is given up first.

Knows neither tensors nor HTTP nor any clock but the one passed in. `PrefixCache` is the whole
interface; everything else in this room serves it.
"""

from headstart.cache.errors import CacheCorrupt
from headstart.cache.events import Cleared, Event, Removed, Stored
from headstart.cache.keys import BlockKey, Chain, Namespace
from headstart.cache.lease import BlockCopy, Lease
from headstart.cache.policies import POLICIES
from headstart.cache.pool import BlockId
from headstart.cache.prefix_cache import INDEXES, Match, PrefixCache, reusable_tokens
from headstart.cache.report import Miss, Reason
from headstart.cache.retention import OverBudget, Pin
from headstart.cache.snapshot import TreeNode
from headstart.cache.stats import Tally, TokenRates
from headstart.cache.stretch import Stretch, keys_up, stretch
from headstart.cache.visit import Visit

__all__ = [
    "INDEXES",
    "POLICIES",
    "BlockCopy",
    "BlockId",
    "BlockKey",
    "CacheCorrupt",
    "Chain",
    "Cleared",
    "Event",
    "Lease",
    "Match",
    "Miss",
    "Namespace",
    "OverBudget",
    "Pin",
    "PrefixCache",
    "Reason",
    "Removed",
    "Stored",
    "Stretch",
    "Tally",
    "TokenRates",
    "TreeNode",
    "Visit",
    "keys_up",
    "reusable_tokens",
    "stretch",
]
