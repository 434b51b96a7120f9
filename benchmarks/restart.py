"""Time to the first token after a restart with `--disk`, against cold and against warm.

    python benchmarks/restart.py [--prefix 4000] [--question 200] [--repeats 3]

Every repeat has an empty directory: a cold request, another question behind the same prefix (warm),
SIGTERM, a new server, and a third question. Each server has answered a prompt of its own before.
"""

import argparse
import asyncio
import statistics
import tempfile
import time

import httpx

from headstart.insight.bench.client import Abilities, Endpoint, completion_body
from headstart.insight.bench.launch import serving
from headstart.insight.bench.prompts import PromptSource

WARM_UP = 64


async def ask(directory: str, source: PromptSource, prompts: list[tuple[int, ...]]) -> list[float]:
    """A server over `directory` answers the prompts in turn. Seconds to each one's first token."""
    arguments = ("--kv-memory", "1GiB", "--disk", directory, "--no-warm-restart")
    async with (
        serving(arguments) as server,
        httpx.AsyncClient(timeout=600, trust_env=False) as client,
    ):
        endpoint = Endpoint(client, server.url)
        endpoint.model = await endpoint.first_model()
        await endpoint.complete(completion_body(source.fresh(WARM_UP), 1, Abilities()))
        return [
            (await endpoint.complete(completion_body(prompt, 1, Abilities()))).ttft
            for prompt in prompts
        ]


async def measure(prefix_tokens: int, question_tokens: int, repeats: int) -> None:
    """Measure and print."""
    source = PromptSource(time.time_ns())
    times: dict[str, list[float]] = {"cold": [], "warm": [], "after a restart": []}
    for _ in range(repeats):
        prefix = source.fresh(prefix_tokens)
        one, two, three = (prefix + source.fresh(question_tokens) for _ in range(3))
        with tempfile.TemporaryDirectory(prefix="headstart-restart-") as directory:
            cold, warm = await ask(directory, source, [one, two])
            (again,) = await ask(directory, source, [three])
        for name, seconds in zip(times, (cold, warm, again), strict=True):
            times[name].append(seconds)
    print(f"{question_tokens} tokens behind {prefix_tokens}, {repeats} repeats")
    cold = statistics.median(times["cold"])
    for name, seconds in times.items():
        middle = statistics.median(seconds)
        print(
            f"{name:>16}: {middle * 1e3:7.0f} ms ({min(seconds) * 1e3:.0f} to "
            f"{max(seconds) * 1e3:.0f}), {middle / cold:.2f} of cold"
        )


def main() -> None:
    """Read the arguments."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--prefix", type=int, default=4000)
    arguments.add_argument("--question", type=int, default=200)
    arguments.add_argument("--repeats", type=int, default=3)
    options = arguments.parse_args()
    asyncio.run(measure(options.prefix, options.question, options.repeats))


if __name__ == "__main__":
    main()
