"""What a contract costs a request: plan, settle and commit, for each of them.

python benchmarks/contracts.py [--repeats 100]

Prompts of 100,000 random token ids in 40 blocks, and in 10,000. Each is new in its last 1,000
tokens and in its last block; the entries of the rest are there. Four blocks are marked where marks
are allowed. *array* has the ids as `array("I")`, *list* as a list of ints. Milliseconds: the median
and (minimum).
"""

import argparse
import os
import random
import statistics
import time
from array import array
from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from headstart.contracts.entries import Entries
from headstart.contracts.prompt import Block, Mark, Prompt, digest
from headstart.contracts.registry import CONTRACTS, build

TOKENS, NEW = 100_000, 1_000
VOCABULARY = 49_152
MARKABLE = ("anthropic", "openai_breakpoints")
NUMBERS = {"anthropic": {"minimum": 1024}, "gemini": {"minimum": 2048}}


def conversation(ids: Sequence[int], blocks: int, *, marked: bool) -> Prompt:
    """A conversation of so many blocks, a user's and an assistant's by turns."""
    marks = {blocks // 4, blocks // 2, blocks - 3, blocks - 1} if marked else set()
    return Prompt(
        "tenant",
        "model",
        [
            Block(
                "user" if index % 2 else "assistant",
                digest(index.to_bytes(4)),
                index,
                f"messages.{index}",
                Mark() if index in marks else None,
            )
            for index in range(blocks)
        ],
        ids,
        ends=[(index + 1) * len(ids) // (blocks + 1) for index in range(blocks)],
    )


def measure(name: str, blocks: int, repeats: int, *, packed: bool) -> list[float]:
    """Milliseconds of each of the repeats, on entries that stay as they do in a server."""
    contract = build(name, **NUMBERS.get(name, {}))
    source = random.Random(1)
    entries = Entries()
    ids = array("I", source.choices(range(VOCABULARY), k=TOKENS))
    known = conversation(ids, blocks, marked=name in MARKABLE)
    contract.plan(known, entries, 0.0).commit(entries, 0.0)
    spent = []
    for repeat in range(repeats + 1):
        ids[-NEW:] = array("I", source.choices(range(VOCABULARY), k=NEW))
        changed = structs.replace(known.blocks[-1], digest=digest(b"new", repeat.to_bytes(4)))
        prompt = replace(
            known, ids=ids if packed else ids.tolist(), blocks=[*known.blocks[:-1], changed]
        )
        begin = time.perf_counter()
        plan = contract.plan(prompt, entries, 1.0)
        decision = plan.settle(TOKENS - NEW)
        plan.commit(entries, 1.0)
        spent.append((time.perf_counter() - begin) * 1e3)
        if not decision.read:
            raise SystemExit(f"{name} reads nothing")
    return spent[1:]


def main() -> None:
    """Read the arguments and measure every contract."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repeats", type=int, default=100)
    repeats = arguments.parse_args().repeats
    print(f"load average {os.getloadavg()[0]:.1f}")
    print(f"{'':>20}  {'40 blocks, array':>18}  {'40 blocks, list':>18}  {'10,000 blocks':>18}")
    for name in CONTRACTS:
        cells = []
        for packed, blocks in ((True, 40), (False, 40), (True, 10_000)):
            spent = measure(name, blocks, repeats, packed=packed)
            cells.append(f"{statistics.median(spent):8.2f} ({min(spent):7.2f})")
        print(f"{name:>20}  " + "  ".join(cells))


if __name__ == "__main__":
    main()
