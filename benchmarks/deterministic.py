"""What `--deterministic` costs: the same measurements with and without it, and their ratio.

python benchmarks/deterministic.py [--repeats 3]

TTFT cold and warm at 4,000 shared and 200 new tokens, and decode speed at 1,000 tokens of context
with 1 and 4 streams, over HTTP. The two servers take turns, point by point.
"""

import argparse
import asyncio
import statistics
import time
from collections import defaultdict

import httpx

from headstart.insight.bench.client import Abilities, Endpoint, completion_body
from headstart.insight.bench.launch import serving
from headstart.insight.bench.prompts import PromptSource

SHARED, NEW, CONTEXT, OUTPUT = 4000, 200, 1000, 64


async def points(endpoint: Endpoint, source: PromptSource) -> dict[str, float]:
    """Seconds by point; lower is better everywhere."""
    prefix = source.fresh(SHARED)
    seconds = {}
    for name in ("cold TTFT", "warm TTFT"):
        body = completion_body(prefix + source.fresh(NEW), 1, Abilities())
        seconds[name] = (await endpoint.complete(body)).ttft
    for streams in (1, 4):
        prompts = [source.fresh(CONTEXT) for _ in range(streams)]
        for prompt in prompts:
            await endpoint.complete(completion_body(prompt, 1, Abilities()))
        bodies = [completion_body(prompt, OUTPUT, Abilities()) for prompt in prompts]
        done = await asyncio.gather(*(endpoint.complete(body) for body in bodies))
        first, last = min(one.ttft for one in done), max(one.last for one in done)
        seconds[f"per token, {streams} streams"] = (last - first) / (streams * (OUTPUT - 1))
    return seconds


async def measure(repeats: int) -> None:
    """Measure and print."""
    source = PromptSource(time.time_ns())
    samples: dict[tuple[str, str], list[float]] = defaultdict(list)
    memory = ("--kv-memory", "512MiB")
    async with (
        serving(memory) as plain,
        serving((*memory, "--deterministic")) as fixed,
        httpx.AsyncClient(timeout=600, trust_env=False) as client,
    ):
        for repeat in range(repeats + 1):
            for mode, server in (("plain", plain), ("deterministic", fixed)):
                endpoint = Endpoint(client, server.url)
                endpoint.model = await endpoint.first_model()
                for name, seconds in (await points(endpoint, source)).items():
                    if repeat:
                        samples[name, mode].append(seconds)
    for name in dict.fromkeys(name for name, _ in samples):
        plain_ms, fixed_ms = (
            statistics.median(samples[name, mode]) * 1e3 for mode in ("plain", "deterministic")
        )
        print(
            f"{name:>20}: {plain_ms:7.1f} ms, deterministic {fixed_ms:7.1f} ms, "
            f"{fixed_ms / plain_ms:.2f} x"
        )


def main() -> None:
    """Read the arguments."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repeats", type=int, default=3)
    asyncio.run(measure(arguments.parse_args().repeats))


if __name__ == "__main__":
    main()
