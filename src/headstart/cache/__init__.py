"""The prefix cache: which blocks hold which prefix, who may use them, what is given up first.

Knows neither tensors nor HTTP nor any clock but the one passed in. `PrefixCache` is the whole
interface; everything else in this room serves it.
"""

from headstart.cache.keys import BlockKey, KeyChain, Namespace
from headstart.cache.pool import BlockId
from headstart.cache.prefix_cache import CacheCorrupt, Lease, Match, PrefixCache, reusable_tokens
from headstart.cache.stats import Tally, TokenRates

__all__ = [
    "BlockId",
    "BlockKey",
    "CacheCorrupt",
    "KeyChain",
    "Lease",
    "Match",
    "Namespace",
    "PrefixCache",
    "Tally",
    "TokenRates",
    "reusable_tokens",
]
