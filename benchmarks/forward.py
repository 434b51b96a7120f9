"""Warm TTFT through the server against the same forward pass without a server around it.

python benchmarks/forward.py [--prefix 4000] [--new 200] [--repeats 9]
python benchmarks/forward.py --exact 7000    # the same prompt again, against a one-token step

Both compute `--new` tokens over `--prefix` cached ones in place and take the greedy token; the
server does it behind HTTP, JSON, scheduling, cache and streaming. They take turns, so that the
machine's drift hits both alike; the ratio is of the medians.
"""

import argparse
import asyncio
import statistics
import time

import httpx
import torch

from headstart.insight.bench.client import Abilities, Endpoint, completion_body
from headstart.insight.bench.launch import serving
from headstart.insight.bench.prompts import PromptSource
from headstart.model.decoder import Decoder
from headstart.model.default import DEFAULT_MODEL
from headstart.model.kv import KVPool
from headstart.model.load import load_model
from headstart.model.runner import Runner, Slice

BLOCK, CHUNK = 16, 512


class Bare:
    """The model and its pool, driven by hand."""

    def __init__(self, length: int) -> None:
        loaded = load_model(DEFAULT_MODEL, dtype=torch.bfloat16, device=torch.device("cpu"))
        self._table = list(range(-(-length // BLOCK)))
        pool = KVPool(
            loaded.config,
            blocks=len(self._table),
            block_size=BLOCK,
            dtype=torch.bfloat16,
            device=torch.device("cpu"),
        )
        self._runner = Runner(Decoder(loaded.config, loaded.weights, positions=length), pool)

    def compute(self, prompt: tuple[int, ...], start: int) -> float:
        """Seconds for everything from `start` on, and the first token."""
        begun = time.perf_counter()
        while start < len(prompt):
            tokens = prompt[start : start + CHUNK]
            start += len(tokens)
            logits = self._runner.run(
                [Slice(tokens, start - len(tokens), self._table, wants_logits=start == len(prompt))]
            )
        int(logits[0].argmax())
        return time.perf_counter() - begun


async def measure(prefix_tokens: int, new_tokens: int, repeats: int) -> None:
    """Measure and print. No new tokens: the same prompt each time, its last token computed bare."""
    source = PromptSource(time.time_ns())
    bare = Bare(prefix_tokens + new_tokens)
    prefix = source.fresh(prefix_tokens)
    bare.compute(prefix, 0)
    start = prefix_tokens if new_tokens else prefix_tokens - 1
    alone: list[float] = []
    served: list[float] = []
    async with (
        serving(
            ("--block-size", str(BLOCK), "--max-batch-tokens", str(CHUNK), "--kv-memory", "1GiB")
        ) as server,
        httpx.AsyncClient(timeout=600, trust_env=False) as client,
    ):
        endpoint = Endpoint(client, server.url)
        endpoint.model = await endpoint.first_model()
        await endpoint.complete(completion_body(prefix, 1, Abilities()))
        for repeat in range(repeats + 1):
            prompt = prefix + (source.fresh(new_tokens) if new_tokens else ())
            seconds = bare.compute(prompt, start)
            got = await endpoint.complete(completion_body(prompt, 1, Abilities()))
            assert got.usage.cached_tokens == start, got.usage
            if repeat:
                alone.append(seconds)
                served.append(got.ttft)
    what = f"{new_tokens} new tokens over" if new_tokens else "an exact repeat of"
    print(f"{what} {prefix_tokens}, {repeats} repeats in turn")
    for name, times in (("forward pass", alone), ("through the server", served)):
        print(
            f"{name:>20}: {statistics.median(times) * 1e3:6.1f} ms "
            f"({min(times) * 1e3:.1f} to {max(times) * 1e3:.1f})"
        )
    print(f"{'ratio':>20}: {statistics.median(served) / statistics.median(alone):.2f}")


def main() -> None:
    """Read the arguments."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--prefix", type=int, default=4000)
    arguments.add_argument("--new", type=int, default=200)
    arguments.add_argument("--repeats", type=int, default=9)
    arguments.add_argument("--exact", type=int, help="tokens of a prompt to repeat as it is")
    options = arguments.parse_args()
    if options.exact:
        options.prefix, options.new = options.exact, 0
    asyncio.run(measure(options.prefix, options.new, options.repeats))


if __name__ == "__main__":
    main()
