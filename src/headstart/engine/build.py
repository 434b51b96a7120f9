"""From settings to a running engine."""

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from headstart.cache import POLICIES, PrefixCache
from headstart.engine.core import LocalEngine
from headstart.engine.identity import Identity
from headstart.engine.offload import Offload
from headstart.engine.open_tiers import TierError, chunk_blocks, open_resets, open_tiers
from headstart.engine.scheduler import Scheduler
from headstart.engine.shared import SharedPrefixes
from headstart.engine.verify import Verifier
from headstart.engine.warm_pool import PoolTarget
from headstart.engine.warming import Target, TierTarget, Warming
from headstart.model.decoder import Decoder
from headstart.model.errors import ModelError
from headstart.model.kv import KVPool, kv_bytes_per_token
from headstart.model.load import LoadedModel
from headstart.model.lora import load_adapter
from headstart.model.lossy import eight_bit
from headstart.model.runner import Runner
from headstart.settings import Settings

DETERMINISTIC_CHUNK = 256
"""Tokens between the fixed chunk borders of deterministic mode; rounded up to whole blocks."""

GHOSTS = 65_536
"""Lost blocks that are remembered, to say why a prompt missed; some 18 MB."""


class TooLittleMemory(ValueError):
    """The KV memory doesn't hold a single block."""


def build_engine(
    loaded: LoadedModel, settings: Settings, shared: Iterable[Sequence[int]] = ()
) -> LocalEngine:
    """Allocate the pool, load the adapters, open the tiers and start the engine's thread.

    `shared`: prefixes, as token ids, whose KV all tenants share.

    Raises TooLittleMemory; TierError; ModelError for two adapters of one name, or one that can't
    be used.
    """
    config, weights = loaded.config, loaded.weights
    dtype, device = weights.embed.dtype, weights.embed.device
    if settings.threads:
        torch.set_num_threads(settings.threads)
    context = min(settings.context_length or config.context_length, config.context_length)
    block_bytes = kv_bytes_per_token(config, dtype) * settings.block_size
    blocks = kv_memory(settings) // block_bytes
    if not blocks:
        raise TooLittleMemory(
            f"One block of {settings.block_size} tokens takes {block_bytes} bytes, more than the "
            "KV memory given. Raise --kv-memory or lower --block-size."
        )
    chunk = None
    if settings.deterministic:
        chunk = -(-DETERMINISTIC_CHUNK // settings.block_size) * settings.block_size
    pool = KVPool(config, blocks=blocks, block_size=settings.block_size, dtype=dtype, device=device)
    _check_names(settings.served_model_name or loaded.name, settings)
    adapters = [
        load_adapter(name, Path(path), config, dtype, device) for name, path in settings.loras
    ]
    budget = settings.retention_budget_bytes
    unit = 1 if chunk is None else chunk // settings.block_size
    stored = chunk_blocks(block_bytes, settings.block_size, unit)
    tokens = stored * settings.block_size
    lossy = eight_bit(
        settings.tier_codec,
        shape=(config.layers, 2, config.kv_heads, tokens, config.head_dim),
        dtype=dtype,
        block_size=settings.block_size,
    )
    if lossy is not None and settings.deterministic:
        raise TierError(
            f"--deterministic promises every bit, and --tier-codec {settings.tier_codec} doesn't "
            "keep them: take raw or zstd."
        )
    tiers = open_tiers(settings, chunk_bytes=stored * block_bytes, lossy=lossy)
    resets = open_resets(settings)
    cache = PrefixCache(
        blocks,
        settings.block_size,
        reuse_unit=chunk or 1,
        index=settings.prefix_index,
        policy=POLICIES[settings.eviction_policy](),
        enabled=settings.prefix_cache,
        clock=time.monotonic,
        ttl=settings.cache_ttl,
        ghosts=GHOSTS,
        generation=resets.begin(),
        retention_budget=None if budget is None else budget // block_bytes,
    )
    offload = None
    if tiers is not None:
        offload = Offload(
            tiers,
            cache,
            pool,
            chunk_blocks=stored,
            write=settings.tier_write,
            clock=time.monotonic,
            wall_ns=time.time_ns,
        )

    runner = Runner(
        Decoder(config, weights, positions=context), pool, deterministic=chunk is not None
    )
    verifier = None
    if settings.verify_hits:
        verifier = Verifier(
            settings.verify_hits,
            cache,
            runner,
            step=chunk or settings.max_batch_tokens,
            exact=chunk is not None,
        )

    identity = Identity(
        weights=loaded.digest,
        dtype=str(dtype),
        layout=f"{config.layers} layers of {config.kv_heads}x{config.head_dim}, "
        f"chunk {chunk}, stored by {stored}{'' if chunk is None else _numerics(device)}"
        f"{'' if lossy is None else f', {settings.tier_codec} at rest'}",
        rope=str(config.rope),
        block_size=settings.block_size,
    )
    warming = None
    hot = tiers.hot() if tiers is not None and settings.warm_restart else None
    if hot is not None:
        source, above = hot
        target: Target = PoolTarget(cache, pool, chunk_blocks=stored)
        if above is not None:
            target = TierTarget(above, time.monotonic)
        digests = {None, *(adapter.digest for adapter in adapters)}
        warming = Warming(
            source,
            target,
            wanted=lambda space: space.adapter in digests and identity.names(space),
            root=lambda space: space.root(cache.generation),
            clock=time.monotonic,
        )

    return LocalEngine(
        runner,
        Scheduler(
            cache,
            max_batch_tokens=settings.max_batch_tokens,
            max_running=settings.max_running,
            chunk=chunk,
            loader=offload,
        ),
        loaded.codec,
        identity,
        context_length=context,
        max_waiting=settings.max_waiting,
        adapters=adapters,
        offload=offload,
        verifier=verifier,
        warming=warming,
        resets=resets,
        shared=SharedPrefixes(cache, shared),
    )


def _numerics(device: torch.device) -> str:
    """What decides the last bits besides the model: deterministic mode promises those too."""
    capability = torch.backends.cpu.get_cpu_capability()
    return f", {torch.__version__} {device.type} {capability} x{torch.get_num_threads()}"


def _check_names(model: str, settings: Settings) -> None:
    """A request names its model or adapter, so no two may share a name. Raises ModelError."""
    taken = {model}
    for name, _ in settings.loras:
        if name in taken:
            raise ModelError(
                f"The name {name!r} stands for two models: give each --lora a name of its own, "
                "other than the base model's."
            )
        taken.add(name)


def kv_memory(settings: Settings) -> int:
    """Bytes for the KV pool: as set, else a quarter of this machine's memory."""
    if settings.kv_memory_bytes is not None:
        return settings.kv_memory_bytes
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
