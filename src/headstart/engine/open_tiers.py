"""From settings to the tiers below the pool."""

import mmap
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from headstart.cache import POLICIES
from headstart.engine.resets import Resets
from headstart.settings import Settings
from headstart.stores import (
    Breaker,
    Codec,
    DiskStore,
    FolderStore,
    Guarded,
    RamStore,
    Raw,
    Store,
    ValkeyStore,
    Zstd,
    parse_url,
)
from headstart.stores.errors import CodecMissing
from headstart.stores.generation import FileGeneration, Generation
from headstart.stores.tier import Tier
from headstart.stores.tiers import Tiers

CHUNK_BYTES = 4 * 1024**2
"""A chunk is as many blocks as fit: few files for long prompts, little lost at their ends."""
CHUNK_TOKENS = 256
"""And no more than this: a small model's prompts are no longer than others'."""


class TierError(ValueError):
    """A tier that can't be opened as asked; `str()` names the way out."""


def chunk_blocks(block_bytes: int, block_size: int, unit_blocks: int) -> int:
    """Blocks in a chunk: a power of two times `unit_blocks`, within both bounds if it can be."""
    blocks = unit_blocks
    most = min(CHUNK_BYTES // block_bytes, CHUNK_TOKENS // block_size)
    while 2 * blocks <= most:
        blocks *= 2
    return blocks


def open_tiers(settings: Settings, *, chunk_bytes: int, lossy: Codec | None = None) -> Tiers | None:
    """The tiers that `settings` ask for, nearest first; None if there are none.

    `lossy`: the codec, where the settings ask for one that knows the model's KV.

    Raises TierError. A server that doesn't answer is no error: its breaker opens. Without a prefix
    cache nothing may be found, so there are no tiers either.
    """
    if not settings.prefix_cache:
        return None
    codec = lossy or _codec(settings.tier_codec)
    tiers: list[Tier] = []
    if settings.ram_tier_bytes:
        arena = memoryview(mmap.mmap(-1, settings.ram_tier_bytes))
        ram = RamStore(
            arena,
            clock=time.monotonic,
            codec=codec,
            policy=POLICIES[settings.eviction_policy](),
        )
        tiers.append(_tier("ram", ram, lasting=False))
    if settings.disk is not None:
        folder = _folder(Path(settings.disk), codec)
        disk = DiskStore(
            folder,
            max_bytes=settings.disk_bytes,
            clock=time.monotonic,
            time_ns=time.time_ns,
            background=_in_thread,
            policy=POLICIES[settings.eviction_policy](),
        )
        tiers.append(replace(_tier("disk", disk), hot=disk))
    if settings.remote is not None:
        tiers.append(_tier("remote", _remote(settings.remote, codec)))
    return Tiers(tiers, chunk_bytes=chunk_bytes, clock=time.monotonic) if tiers else None


def open_resets(settings: Settings) -> Resets:
    """What remembers resets for these tiers. Raises TierError."""
    own = None if settings.disk is None else FileGeneration(Path(settings.disk))
    shared: Generation | None = None
    if settings.remote is not None and settings.prefix_cache:
        shared = (
            _valkey(settings.remote, Raw())
            if "://" in settings.remote
            else FileGeneration(Path(settings.remote))
        )
    return Resets(own=own, shared=shared, clock=time.monotonic, wall_ns=time.time_ns)


def _tier(name: str, store: Store, *, lasting: bool = True) -> Tier:
    return Tier(name, Guarded(name, store, Breaker(), clock=time.monotonic), lasting)


def _remote(where: str, codec: Codec) -> Store:
    if "://" not in where:
        return _folder(Path(where), codec)
    return _valkey(where, codec)


def _valkey(url: str, codec: Codec) -> ValkeyStore:
    try:
        return ValkeyStore(parse_url(url), clock=time.monotonic, codec=codec)
    except ValueError as error:
        raise TierError(f"--remote: {error}, or a directory.") from error


def _folder(root: Path, codec: Codec) -> FolderStore:
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise TierError(f"{root} can't be used for KV: {error}.") from error
    return FolderStore(
        root,
        clock=time.monotonic,
        time_ns=time.time_ns,
        random=lambda: secrets.token_hex(8),
        codec=codec,
    )


def _codec(name: str) -> Codec:
    match name:
        case "raw":
            return Raw()
        case "zstd":
            try:
                return Zstd()
            except CodecMissing as error:
                raise TierError(f"--tier-codec: {error}: pip install 'headstart[zstd]'.") from error
        case _:
            raise TierError(f"--tier-codec {name} has to know the model's KV.")


def _in_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="headstart-scan", daemon=True).start()
