"""What the ledger adds to a request, and how fast it is written and summed up.

python benchmarks/ledger.py [--rows 100000] [--rate 2000]

*add* makes an account and a row and hands them to the store, `--rate` times a second, while the
writer's thread prices and commits what came before: what serving pays, thread switches included.
Then the rest of `--rows` is added as fast as the queue takes it, for the rows that one second
writes, and summed up by model with `report`. Prices are the real ones, with the `prices` extra or
from the snapshot.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from headstart.ledger import Account, PriceBook, Row, Rules, Store, Tariff, report

MODELS = (
    ("claude-opus-5", "anthropic", "5m"),
    ("gpt-6.1-sol", "openai_breakpoints", "30m"),
    ("gemini-2.5-pro", "gemini", None),
    ("smollm2-135m-instruct", "engine", None),
)
PACED = 5_000


def row(number: int) -> Row:
    """A request of 100,000 tokens, of which most were read."""
    model, contract, lifetime = MODELS[number % len(MODELS)]
    written = {} if lifetime is None else {lifetime: 1_000}
    account = Account(100_000, 98_000, 200, written)
    name = f"req_{number:012}"
    now = time.time()
    return Row(now, name, "acme", "ci", model, contract, "chat", account, 98_500, 0.1, "diverged")


def paced(store: Store, rate: float) -> list[float]:
    """Microseconds of each of PACED rows, evenly spread."""
    taken, due = [], time.perf_counter()
    for number in range(PACED):
        due += 1 / rate
        time.sleep(max(0.0, due - time.perf_counter()))
        begin = time.perf_counter_ns()
        store.add(row(number))
        taken.append((time.perf_counter_ns() - begin) / 1000)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rate", type=float, default=2_000)
    options = parser.parse_args()
    tariff = Tariff(Rules.packaged(), PriceBook.standard())
    begin = time.perf_counter()
    tariff.load()
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    print(f"load prices  {(time.perf_counter() - begin) * 1000:.0f} ms, once")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "ledger.db"
        store = Store(path, tariff.bill)
        taken = sorted(paced(store, options.rate))
        print(
            f"add          median {statistics.median(taken):.1f} µs, min {taken[0]:.1f},"
            f" p99 {taken[int(len(taken) * 0.99)]:.1f}, max {taken[-1]:.0f} (n {len(taken)})"
        )
        assert store.flush(60)
        rest = max(0, options.rows - PACED)
        begin = time.perf_counter()
        for first in range(0, rest, 1000):
            for number in range(first, min(first + 1000, rest)):
                store.add(row(number))
            while store.counts.waiting > 10_000:
                time.sleep(0.001)
        assert store.flush(60)
        print(f"write        {rest / (time.perf_counter() - begin):,.0f} rows/s, priced and synced")
        assert store.counts.lost == 0
        store.close()
        begin = time.perf_counter()
        total = report(path, "model").total
        print(
            f"report       {(time.perf_counter() - begin) * 1000:.0f} ms over {total.requests:,}"
            f" rows, {path.stat().st_size / total.requests:.0f} bytes each"
        )


if __name__ == "__main__":
    main()
