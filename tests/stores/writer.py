"""Writes chunks, slowly, until it is killed: `python writer.py <root> <seed>`. Tells each one."""

import random
import sys
import time
from pathlib import Path

from tests.stores.build import NEVER, at_once, chunk
from tests.stores.faults import FaultyFiles

from headstart.stores import DiskStore, FolderStore

SIZE = 400_000


def main(root: Path, seed: int) -> None:
    files = FaultyFiles()
    files.piece = SIZE // 10
    files.before = lambda operation: time.sleep(0.001 if operation == "write" else 0)
    folder = FolderStore(
        root,
        clock=time.monotonic,
        time_ns=time.time_ns,
        random=lambda: random.SystemRandom().randbytes(8).hex(),
        files=files,
        min_free=0,
    )
    store = DiskStore(
        folder,
        max_bytes=1 << 30,
        clock=time.monotonic,
        time_ns=time.time_ns,
        background=at_once,
    )
    while True:
        seed += 1
        store.put(chunk(seed=seed, size=SIZE), deadline=NEVER)
        print(seed, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
