"""What the tests here begin with: namespaces, records that hang together, clocks that are set."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headstart.cache.keys import BlockKey, Namespace, block_key, token_bytes
from headstart.cache.policies import Policy
from headstart.stores import DiskStore, FolderStore, PersistentNamespace, Record, persistable
from headstart.stores.codec import Buffer, Codec
from headstart.stores.files import Files
from headstart.stores.layout import chunk_path

BLOCK = 4
NEVER = float("inf")
NOON = 1_700_000_000 * 10**9


def namespace(**changes: Any) -> Namespace:
    """A namespace of blocks of 4 tokens; `changes` replace its fields."""
    fields: dict[str, Any] = {
        "weights": bytes(range(32)),
        "adapter": None,
        "tenant": "acme",
        "salt": None,
        "dtype": "float32",
        "layout": "layers=2 kv_heads=1 head_dim=8",
        "rope": "theta=10000 context=2048",
        "block_size": BLOCK,
    }
    return Namespace(**{**fields, **changes})


SPACE = persistable(namespace())
OTHER = persistable(namespace(tenant="globex"))


def chain(
    count: int,
    *,
    seed: int = 0,
    size: int = 5000,
    blocks: int = 2,
    space: PersistentNamespace = SPACE,
    behind: Record | None = None,
) -> list[Record]:
    """`count` chunks of one sequence, each the child of the one before."""
    draw = random.Random(f"{seed} {space.digest.hex()} {behind and behind.key.hex()}")
    records: list[Record] = []
    for _ in range(count):
        last = records[-1] if records else behind
        parent = last.key if last else space.namespace.root(0)
        first = last.first_position + len(last.tokens) // 4 if last else 0
        tokens = token_bytes([draw.randrange(2**32) for _ in range(blocks * BLOCK)])
        records.append(
            Record(
                namespace=space,
                key=last_key(parent, tokens),
                parent=parent,
                first_position=first,
                tokens=tokens,
                created=NOON + first,
                payload=draw.randbytes(size),
            )
        )
    return records


def chunk(**options: Any) -> Record:
    """One chunk at position 0."""
    return chain(1, **options)[0]


def last_key(parent: BlockKey, tokens: bytes) -> BlockKey:
    key = parent
    for start in range(0, len(tokens), 4 * BLOCK):
        key = block_key(key, tokens[start : start + 4 * BLOCK])
    return key


class Clock:
    """Stands still until it is told."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def wall(self) -> int:
        return NOON + int(self.now * 1e9)


def at_once(work: Callable[[], None]) -> None:
    work()


def hex_digits() -> str:
    return random.randbytes(8).hex()


def folder_store(
    root: Path,
    clock: Clock,
    *,
    files: Files | None = None,
    codec: Codec | None = None,
    min_free: int = 0,
) -> FolderStore:
    return FolderStore(
        root,
        clock=clock,
        time_ns=clock.wall,
        random=hex_digits,
        files=files,
        codec=codec,
        min_free=min_free,
    )


def disk_store(
    root: Path,
    clock: Clock,
    *,
    max_bytes: int = 1 << 30,
    background: Callable[[Callable[[], None]], None] = at_once,
    policy: Policy | None = None,
    **options: Any,
) -> DiskStore:
    return DiskStore(
        folder_store(root, clock, **options),
        max_bytes=max_bytes,
        clock=clock,
        time_ns=clock.wall,
        background=background,
        policy=policy,
    )


def path_of(root: Path, record: Record) -> Path:
    return chunk_path(root, record.namespace.folder, record.key)


def chunk_files(root: Path) -> list[Path]:
    return sorted(root.glob("*/*/*.kv"))


def physical(root: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in chunk_files(root))


class Rough:
    """A lossy codec that needs no tensors: it keeps the upper half of every byte."""

    lossy = True

    def __init__(self, codec_id: int) -> None:
        self.id = codec_id

    def pack(self, payload: Buffer) -> Buffer:
        return bytes(byte >> 4 for byte in memoryview(payload))

    def unpack(self, stored: Buffer, into: memoryview) -> None:
        into[:] = bytes(byte << 4 for byte in memoryview(stored))
