"""Where KV bytes rest below the pool: RAM, a disk, a shared folder, a Valkey server.

A store only makes things faster: every call has a deadline, every error is a miss once a store is
`Guarded`, bytes are verified before use, and a bound is in physical bytes. Nothing here knows a
model or a request; a chunk's payload is opaque.
"""

from headstart.stores.breaker import Breaker, State
from headstart.stores.codec import Codec, Raw, Zstd
from headstart.stores.disk import DiskStore
from headstart.stores.errors import StoreError, Unpersistable
from headstart.stores.folder import FolderStore
from headstart.stores.guarded import Guarded
from headstart.stores.namespace import PersistentNamespace, persistable
from headstart.stores.protocol import Clock, Store, StoreStats
from headstart.stores.ram import RamStore
from headstart.stores.record import Record
from headstart.stores.valkey import Address, ValkeyStore, parse_url

__all__ = [
    "Address",
    "Breaker",
    "Clock",
    "Codec",
    "DiskStore",
    "FolderStore",
    "Guarded",
    "PersistentNamespace",
    "RamStore",
    "Raw",
    "Record",
    "State",
    "Store",
    "StoreError",
    "StoreStats",
    "Unpersistable",
    "ValkeyStore",
    "Zstd",
    "parse_url",
    "persistable",
]
