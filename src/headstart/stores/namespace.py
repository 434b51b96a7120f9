"""The identity that KV carries when it leaves the process.

A name is not an identity: two checkpoints of one name make different KV. So only a namespace whose
weights and adapter have a content digest gets a `PersistentNamespace`, and stores take no other.
"""

import json
from dataclasses import dataclass, fields
from hashlib import sha256

from headstart.cache.keys import SCHEMA, Namespace
from headstart.stores.errors import Unpersistable

FORMAT = 1
"""The record format. It shapes the digest: releases of different formats never meet in a folder."""

_BYTES = ("weights", "adapter")
_TYPES: dict[str, tuple[type, ...]] = {
    "weights": (str,),
    "adapter": (str, type(None)),
    "tenant": (str,),
    "salt": (str, type(None)),
    "dtype": (str,),
    "layout": (str,),
    "rope": (str,),
    "block_size": (int,),
}


@dataclass(frozen=True, slots=True)
class PersistentNamespace:
    """A namespace that may be written down. Equal where the digest is. Made by `persistable`."""

    namespace: Namespace
    text: bytes
    """Canonical JSON of every field and the key schema; digests in hex. No generation."""
    digest: bytes
    """32 bytes over the record format and `text`."""

    @property
    def folder(self) -> str:
        """16 hex digits: enough for a name, never enough to trust; records carry the digest."""
        return self.digest.hex()[:16]


def persistable(namespace: Namespace) -> PersistentNamespace:
    """The identity of `namespace`. Raises Unpersistable where a content digest is unknown."""
    if not namespace.weights:
        raise Unpersistable(
            "the model's weights have no content digest: their KV can't be told from that of other "
            "weights, so it is kept in memory only"
        )
    if namespace.adapter == b"":
        raise Unpersistable("the adapter has no content digest: its KV is kept in memory only")
    values = {field.name: getattr(namespace, field.name) for field in fields(namespace)}
    for name in _BYTES:
        values[name] = None if values[name] is None else values[name].hex()
    text = json.dumps({"schema": SCHEMA, **values}, sort_keys=True, indent=1).encode()
    return PersistentNamespace(namespace, text, _digest(text))


def parse(text: bytes) -> PersistentNamespace:
    """The namespace that `text` is the canonical text of. Raises ValueError for any other text."""
    values = json.loads(text)
    if not isinstance(values, dict) or values.pop("schema", None) != SCHEMA:
        raise ValueError("not a namespace of this key schema")
    if values.keys() != _TYPES.keys():
        raise ValueError("not the fields of a namespace")
    for name, types in _TYPES.items():
        if type(values[name]) not in types:
            raise ValueError(f"{name} has the wrong type")
    for name in _BYTES:
        values[name] = None if values[name] is None else bytes.fromhex(values[name])
    if (found := persistable(Namespace(**values))).text != text:
        raise ValueError("not in canonical form")
    return found


def _digest(text: bytes) -> bytes:
    return sha256(b"headstart.stored\0%d\0%s" % (FORMAT, text)).digest()
