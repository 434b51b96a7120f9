"""What `headstart replay` says of recorded traces beside published figures, how fast, how large.

    python benchmarks/replay.py TRACES [--speed] [--memory] [--against]

TRACES is a directory with the three recordings that docs/replay.md names. Without a flag: ceilings
and LRU hit rates. --speed: block look-ups per second on the coding agents' trace, of the time that
the process has had, reading not counted. --memory: the largest resident set while that trace
streams once, and ten times in a row with other ids. --against: tokens hit in the second half of the
conversations, counted here and by KVCache.AI's simulator (pip install kvcache-simulator==0.1.3).
"""

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from headstart.insight.replay.capacity import parse_capacity
from headstart.insight.replay.fleet import Fleet
from headstart.insight.replay.optimum import Optimum
from headstart.insight.replay.pool import Setup
from headstart.insight.replay.replay import run
from headstart.insight.replay.source import Reading, Trace
from headstart.insight.replay.stack import lru_hit_rates
from headstart.insight.replay.study import Question, study

CONVERSATION = "mooncake_conversation_trace.jsonl.gz"
AGENTS = "claude_code_64.kvt.gz"
AIRLINE = "taubench_airline_gpt4o_16.kvt.gz"
SHARES = (1, 2, 5, 10, 20, 50)
DAY, HOUR = 86_400.0, 3_600.0
MOST_IDS_OF_AGENTS = 5_000_000


def rates(traces: Path) -> None:
    print(f"{'':>40} {'ceiling':>8} " + " ".join(f"{share:5} %" for share in SHARES))
    for name, span, block in (
        (CONVERSATION, 0.0, None),
        (AGENTS, DAY, 512),
        (AIRLINE, 2 * HOUR, None),
    ):
        trace = Trace([traces / name], Reading(span_s=span, block_size=block))
        reuse = Optimum(trace.named())
        room = [int(reuse.unique_blocks * share / 100) for share in SHARES]
        lru = lru_hit_rates(reuse, room)
        print(f"{name:>40} {reuse.ceiling():8.2%} " + " ".join(f"{rate:7.2%}" for rate in lru))


def speed(traces: Path) -> None:
    for block in (64, 512):
        trace = Trace([traces / AGENTS], Reading(span_s=DAY, block_size=block))
        requests = list(trace.requests())
        looked_up = sum(len(each.blocks) for each in requests)
        longest = max(len(each.blocks) for each in requests)
        unique = Optimum(requests).unique_blocks
        for share in (1, 5, 50):
            fleet = Fleet([Setup("worth", int(unique * share / 100), longest=longest)])
            begin = time.process_time()
            (outcome,) = run(requests, [fleet])
            seconds = time.process_time() - begin
            print(
                f"blocks of {block}, room for {share} %: {outcome.hit_rate:.2%} in {seconds:.1f} s,"
                f" {looked_up / seconds / 1e6:.2f} million look-ups a second",
                flush=True,
            )


def memory(traces: Path) -> None:
    with tempfile.TemporaryDirectory() as directory:
        for times in (1, 10):
            path = Path(directory) / f"{times}.kvt.gz"
            _repeated(traces / AGENTS, path, times)
            command = [sys.executable, __file__, directory, "--stream", str(times)]
            subprocess.run(command, check=True)


def _repeated(source: Path, target: Path, times: int) -> None:
    header, *lines = gzip.decompress(source.read_bytes()).splitlines()
    with gzip.open(target, "wb", compresslevel=1) as file:
        file.write(header + b"\n")
        for number in range(times):
            for line in lines:
                row = json.loads(line)
                name, _, sub = row["s"].partition(".")
                row["s"] = f"{name}x{number}" + (f".{sub}" if sub else "")
                row["r"] = [[first + number * MOST_IDS_OF_AGENTS, n] for first, n in row["r"]]
                file.write(json.dumps(row).encode() + b"\n")


def stream(directory: Path, times: int) -> None:
    trace = Trace([directory / f"{times}.kvt.gz"], Reading(span_s=times * DAY, block_size=512))
    question = Question(["worth"], [parse_capacity("12M", None)], bound=False)
    report = study(trace, question)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rate = report.points[0].outcome.hit_rate
    print(f"{report.facts.requests:,} requests: {rate:.2%}, {largest:.0f} MiB resident", flush=True)


def against(traces: Path) -> None:
    from kvcache_sim.cpp_backend import run_cpp_sweep  # type: ignore[import-not-found]
    from kvcache_sim.trace import parse_trace_file  # type: ignore[import-not-found]

    reuse = Optimum(Trace([traces / CONVERSATION], Reading()).named())
    half = len(reuse.paths) // 2
    for at, groups in enumerate(reuse.ending[:half]):
        reuse.ending[at] = [replace(group, tokens=0) for group in groups]
    room = [int(reuse.unique_blocks * share / 100) for share in SHARES]
    theirs = run_cpp_sweep(
        parse_trace_file(traces / CONVERSATION, block_size=512),
        capacities=room,
        policies=["lru", "optimal"],
        warmup_requests=half,
    ).results
    for share, blocks, lru in zip(SHARES, room, lru_hit_rates(reuse, room), strict=True):
        ours = (lru, reuse.hit_rate(blocks))
        counted = [round(rate * reuse.prompt_tokens) for rate in ours]
        other = [theirs[policy, blocks].hitTokens for policy in ("lru", "optimal")]
        print(f"{share:3} %  lru, optimum: {counted}, theirs: {other}, equal: {counted == other}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", type=Path)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--against", action="store_true")
    parser.add_argument("--stream", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.stream:
        stream(args.traces, args.stream)
    elif args.speed:
        speed(args.traces)
    elif args.memory:
        memory(args.traces)
    elif args.against:
        against(args.traces)
    else:
        rates(args.traces)


if __name__ == "__main__":
    main()
