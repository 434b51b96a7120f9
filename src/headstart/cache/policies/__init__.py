"""Eviction policies, one file each, chosen by name."""

from headstart.cache.policies.base import Policy
from headstart.cache.policies.fifo import Fifo
from headstart.cache.policies.gdsf import Gdsf
from headstart.cache.policies.lfu import Lfu
from headstart.cache.policies.lru import Lru
from headstart.cache.policies.s3fifo import S3Fifo
from headstart.cache.policies.sieve import Sieve
from headstart.cache.policies.slru import Slru
from headstart.cache.policies.worth import Worth

POLICIES: dict[str, type[Policy]] = {
    policy.name: policy for policy in (Worth, Lru, Lfu, Fifo, Slru, Gdsf, S3Fifo, Sieve)
}

__all__ = ["POLICIES", "Lru", "Policy"]
