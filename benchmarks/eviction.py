"""Token hit rate of eviction policies on recorded traces, beside LRU and the offline optimum.

    python benchmarks/eviction.py TRACES [--policies worth,lru,s3fifo] [--only mooncake]

TRACES is a directory with `mooncake_*.jsonl.gz` and `*.kvt.gz` files. Capacities are shares of the
footprint (different blocks in the trace). The policies are the server's own code.
"""

import argparse
import time
from pathlib import Path

from headstart.cache import POLICIES
from headstart.insight.replay.optimum import Optimum
from headstart.insight.replay.replay import replay
from headstart.insight.replay.request import Request
from headstart.insight.replay.source import Reading, Trace

SHARES = (0.5, 1, 2, 5, 10, 20, 50)
"""Percent of the footprint."""
FAR = 0.05
"""Points count where LRU is farther than this from the optimum."""
HOURS = 3600.0


def load(path: Path, seed: int) -> list[Request]:
    """The requests of a trace with a clock; 64-token blocks are made 512, which is faster."""
    trace = Trace([path], Reading(span_s=24 * HOURS, seed=seed))
    if trace.gaps_drawn:
        trace = Trace([path], Reading(span_s=2 * HOURS, seed=seed))
    if trace.recorded_tokens == 64:
        trace = Trace([path], Reading(span_s=24 * HOURS, seed=seed, block_size=512))
    return list(trace.requests())


def table(name: str, requests: list[Request], policies: list[str]) -> None:
    optimum = Optimum(requests)
    capacities = [max(1, int(optimum.unique_blocks * share / 100)) for share in SHARES]
    best = [optimum.hit_rate(capacity) for capacity in capacities]
    print(f"\n{name}: {len(requests)} requests, ceiling {100 * optimum.ceiling():.2f} %")
    print(f"{'% of footprint':>16}", " ".join(f"{share:6g}" for share in SHARES))
    _row("optimum", best)
    lru = [replay(requests, policy="lru", capacity=c).hit_rate for c in capacities]
    _row("lru", lru)
    for policy in policies:
        begin = time.perf_counter()
        rates = [replay(requests, policy=policy, capacity=c).hit_rate for c in capacities]
        seconds = time.perf_counter() - begin
        rows = list(zip(best, lru, rates, strict=True))
        far = [(b, low, r) for b, low, r in rows if b - low > FAR]
        closed = sum((r - low) / (b - low) for b, low, r in far) / len(far) if far else 0.0
        worst = min(r - low for _, low, r in rows)
        note = f"gap closed {100 * closed:.1f} %, worst {100 * worst:+.2f} points, {seconds:.0f} s"
        _row(policy, rates, note)


def _row(name: str, rates: list[float], note: str = "") -> None:
    print(f"{name:>16}", " ".join(f"{100 * rate:6.2f}" for rate in rates), note, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", type=Path)
    parser.add_argument("--policies", default="worth", help=f"of {', '.join(POLICIES)}")
    parser.add_argument("--only", default="", help="a part of a file's name")
    parser.add_argument("--seed", type=int, default=1, help="of the clocks that are drawn")
    args = parser.parse_args()
    for path in sorted(args.traces.glob("*.gz")):
        if args.only in path.name:
            table(path.name, load(path, args.seed), args.policies.split(","))


if __name__ == "__main__":
    main()
