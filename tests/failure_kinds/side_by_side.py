"""Engines over one KV pool and one prefix cache: what a key doesn't keep apart, they mix up.

A server never runs so. It is the hardest setting for a key: every namespace lies in one index over
one memory, and a wrong hit reads another model's keys and values.
"""

from collections.abc import Sequence

import torch
from tests.failure_kinds.drive import BLOCK

from headstart.cache import PrefixCache
from headstart.engine.core import LocalEngine
from headstart.engine.identity import Identity
from headstart.engine.scheduler import Scheduler
from headstart.model.decoder import Decoder
from headstart.model.kv import KVPool
from headstart.model.load import LoadedModel
from headstart.model.lora import Adapter
from headstart.model.runner import Runner


def side_by_side(
    hosted: Sequence[tuple[LoadedModel, Sequence[Adapter]]], *, blocks: int = 128
) -> list[LocalEngine]:
    """An engine for each model with its adapters, all of one shape. Use one at a time."""
    config = hosted[0][0].config
    cpu = torch.device("cpu")
    pool = KVPool(config, blocks=blocks, block_size=BLOCK, dtype=torch.float32, device=cpu)
    cache = PrefixCache(blocks, BLOCK)
    engines = []
    for loaded, adapters in hosted:
        assert loaded.config == config
        engines.append(
            LocalEngine(
                Runner(Decoder(config, loaded.weights, positions=config.context_length), pool),
                Scheduler(cache, max_batch_tokens=64, max_running=8),
                loaded.codec,
                Identity(loaded.digest, "float32", "one pool", "one", BLOCK),
                context_length=config.context_length,
                max_waiting=8,
                adapters=adapters,
            )
        )
    return engines
