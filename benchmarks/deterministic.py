"""What `--deterministic` costs: the same measurements with and without it, one after the other.

python benchmarks/deterministic.py [--repeats 3]

TTFT cold and warm at 4,000 shared and 200 new tokens, and decode speed at 1,000 tokens of context
with 1 and 4 streams, over HTTP, by `headstart bench`'s own scenarios.
"""

import argparse
import subprocess
import sys

BENCH = (sys.executable, "-c", "from headstart.cli import main; main()", "bench")


def main() -> None:
    """Run both and print what the benchmark prints."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repeats", type=int, default=3)
    options = arguments.parse_args()
    for flags in ("", "--deterministic"):
        print(f"\n== headstart serve {flags}".rstrip())
        command = [*BENCH, "--scenario", "A,D", "--quick", "--repeats", str(options.repeats)]
        subprocess.run([*command, *(("--serve-args", flags) if flags else ())], check=True)


if __name__ == "__main__":
    main()
