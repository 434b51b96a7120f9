"""A decode step through block tables against the same step over contiguous KV.

python benchmarks/decode_paged.py [--context 4000] [--repeats 20]

The baseline holds each layer's keys and values in one contiguous tensor and has no block table. The
paged rows differ in where the context's blocks lie: as the allocator places a sequence in an empty
pool (one run), in 8 runs, and shuffled block by block, the worst case, which is packed by a copy.
Medians of interleaved steps in one process, so that the machine's drift hits all alike.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor

from headstart.model.attention import PagedAttention, partial_for
from headstart.model.decoder import Decoder, Step
from headstart.model.default import DEFAULT_MODEL
from headstart.model.kv import KVPool
from headstart.model.load import load_model
from headstart.model.plan import AttentionPlan
from headstart.model.runner import Runner, Slice

BLOCK = 16


class ContiguousAttention(PagedAttention):
    """Keys and values of all positions in one tensor a layer, as a cache without pages has them."""

    def __init__(self, pool: KVPool, layers: int, context: int) -> None:
        super().__init__(AttentionPlan((), ()), pool, partial=partial_for(torch.device("cpu")))
        self._kv = [
            tuple(t[:, :context].contiguous() for t in pool.layer(n)) for n in range(layers)
        ]

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        seen_keys, seen_values = self._kv[layer]
        seen_keys[:, -1], seen_values[:, -1] = keys[0], values[0]
        return self._over_context(queries, [(seen_keys, seen_values)])[0]


def placements(blocks: int) -> dict[str, list[int]]:
    """Block tables for one sequence, by name."""
    eighth = -(-blocks // 8)
    in_runs = [(i // eighth) * 2 * eighth + i % eighth for i in range(blocks)]
    shuffled = random.Random(0).sample(range(2 * blocks + 16), blocks)
    return {"1 run": list(range(blocks)), "8 runs": in_runs, "shuffled": shuffled}


def main() -> None:
    """Measure and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--context", type=int, default=4000)
    arguments.add_argument("--repeats", type=int, default=20)
    options = arguments.parse_args()
    loaded = load_model(DEFAULT_MODEL, dtype=torch.bfloat16, device=torch.device("cpu"))
    config, context = loaded.config, options.context
    blocks = -(-context // BLOCK)
    pool = KVPool(
        config,
        blocks=2 * blocks + 16,
        block_size=BLOCK,
        dtype=torch.bfloat16,
        device=torch.device("cpu"),
    )
    for layer in range(config.layers):
        for half in pool.layer(layer):
            half.normal_()
    decoder = Decoder(config, loaded.weights, positions=config.context_length)
    runner = Runner(decoder, pool)
    contiguous = Step(
        tokens=torch.tensor([7]),
        positions=torch.tensor([context - 1]),
        slots=torch.tensor([context - 1]),
        attention=ContiguousAttention(pool, config.layers, context),
        wanted=torch.tensor([0]),
    )
    steps: dict[str, Callable[[], object]] = {
        "contiguous": lambda: decoder.forward(contiguous, pool)
    }
    for name, table in placements(blocks).items():
        part = Slice([7], context - 1, table, wants_logits=True)
        steps[name] = lambda part=part: runner.run([part])
    times: dict[str, list[float]] = {name: [] for name in steps}
    for repeat in range(options.repeats + 2):
        for name, step in steps.items():
            begin = time.perf_counter()
            step()
            if repeat >= 2:
                times[name].append(time.perf_counter() - begin)
    base = statistics.median(times["contiguous"])
    print(f"decode step, {context} tokens of context, {options.repeats} repeats")
    for name, samples in times.items():
        middle = statistics.median(samples)
        print(
            f"{name:>12}: {middle * 1e3:6.1f} ms ({min(samples) * 1e3:.1f} to "
            f"{max(samples) * 1e3:.1f}), {middle / base:.2f} x contiguous"
        )


if __name__ == "__main__":
    main()
