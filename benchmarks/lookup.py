"""What the cache's bookkeeping costs before a long prompt with a cached beginning is computed.

python benchmarks/lookup.py [--blocks 1000000] [--repeats 30]

The pool holds about so many cached blocks: a conversation of 99,000 tokens that grew by turns of
1,000, and others of 8,000 tokens behind the same system prompt of 2,000. Then come new prompts of
100,000 tokens, of which the conversation is the beginning: *acquire* is chain, look-up, lease and
allocation, *keys* the hashes of the new blocks. *from a list* adds packing a list of ints. Token
ids are random. Each index runs in a process of its own.
"""

import argparse
import multiprocessing
import os
import random
import resource
import statistics
import time
from array import array

from headstart.cache import INDEXES, Namespace, PrefixCache

BLOCK = 16
SYSTEM, TURN, CONVERSATION, OTHER = 2_000, 1_000, 99_000, 8_000
VOCABULARY = 49_152
NAMESPACE = Namespace(
    weights=bytes(32),
    adapter=None,
    tenant="",
    salt=None,
    dtype="bfloat16",
    layout="",
    rope="",
    block_size=BLOCK,
)


def random_ids(source: random.Random, count: int) -> "array[int]":
    """Token ids; `random_ids(Random(1), …)` are the same everywhere."""
    return array("I", source.choices(range(VOCABULARY), k=count))


def compute(cache: PrefixCache, tokens: "array[int]") -> None:
    """What one request leaves behind: every full block of it is cached."""
    lease = cache.acquire(cache.chain(NAMESPACE), tokens)
    if lease is None:
        raise SystemExit("the pool is too small")
    cache.take_copies()
    cache.publish(lease, tokens)
    cache.release(lease)


def fill(cache: PrefixCache, blocks: int, source: random.Random) -> "array[int]":
    """Fill the cache up to `blocks`; returns the long conversation."""
    system = random_ids(source, SYSTEM)
    conversation = system[:]
    while len(conversation) < CONVERSATION:
        conversation += random_ids(source, TURN)
        compute(cache, conversation)
    while cache.cached < blocks:
        compute(cache, system + random_ids(source, OTHER))
    return conversation


def measure(index: str, blocks: int, repeats: int) -> None:
    """Fill, measure and print, for one index."""
    source = random.Random(1)
    begin = time.perf_counter()
    cache = PrefixCache(blocks + 10_000, BLOCK, index=index)
    conversation = fill(cache, blocks, source)
    filled = time.perf_counter() - begin
    acquire, keys, packing = [], [], []
    for _ in range(repeats):
        prompt = conversation + random_ids(source, TURN)
        listed = prompt.tolist()
        start = time.perf_counter()
        packed = array("I", listed)
        given = time.perf_counter()
        lease = cache.acquire(cache.chain(NAMESPACE), packed)
        leased = time.perf_counter()
        if lease is None or lease.cached_tokens < CONVERSATION // BLOCK * BLOCK:
            raise SystemExit("the prompt's beginning is not cached")
        lease.chain.keys_behind(lease.node.keys[-1], lease.shared, len(packed) // BLOCK)
        hashed = time.perf_counter()
        packing.append(given - start)
        acquire.append(leased - given)
        keys.append(hashed - leased)
        cache.take_copies()
        cache.release(lease)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{index}: {cache.cached:,} blocks cached in {filled:.0f} s, {peak:,.0f} MiB at most; "
        f"load average {os.getloadavg()[0]:.1f}"
    )
    both = [one + other for one, other in zip(acquire, keys, strict=True)]
    whole = [one + other for one, other in zip(both, packing, strict=True)]
    for name, seconds in (
        ("acquire", acquire),
        ("keys", keys),
        ("sum", both),
        ("from a list", whole),
    ):
        print(
            f"  {name:>12}: {statistics.median(seconds) * 1e6:8,.0f} µs "
            f"(minimum {min(seconds) * 1e6:,.0f})"
        )


def main() -> None:
    """Read the arguments and measure every index."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--blocks", type=int, default=1_000_000)
    arguments.add_argument("--repeats", type=int, default=30)
    chosen = arguments.parse_args()
    for index in INDEXES:
        process = multiprocessing.get_context("spawn").Process(
            target=measure, args=(index, chosen.blocks, chosen.repeats)
        )
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(process.exitcode)


if __name__ == "__main__":
    main()
