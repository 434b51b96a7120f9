"""A checkpoint's content digest, and a cache of file digests so that big files are read once.

Design law 3: KV computed by one set of weights must never be found under another. So the digest is
over bytes, never over names or paths, and it doesn't depend on the dtype they are loaded in.
"""

import dataclasses
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from headstart.model.config import ModelConfig

_REMEMBERED_FROM = 64 * 1024 * 1024
"""Bytes. A smaller file is hashed in less than a tenth of a second: not worth an entry."""


def checkpoint_digest(files: Sequence[Path], config: ModelConfig, cache: Path) -> bytes:
    """32 bytes over the weight files' contents, in order, and the config they are used with.

    `cache` is a folder where file digests are kept; it need not exist, nor be writable.
    """
    digest = _start("weights", config)
    for file in files:
        digest.update(_file_digest(file, cache))
    return digest.digest()


def dummy_digest(config: ModelConfig, seed: int) -> bytes:
    """32 bytes that stand for the random weights made from `config` and `seed`."""
    digest = _start("dummy", config)
    digest.update(seed.to_bytes(8, "little"))
    return digest.digest()


def _start(kind: str, config: ModelConfig) -> "hashlib._Hash":
    shape = json.dumps(dataclasses.asdict(config), sort_keys=True).encode()
    return hashlib.sha256(b"headstart %s\0%d\0%s" % (kind.encode(), len(shape), shape))


def _file_digest(file: Path, cache: Path) -> bytes:
    """SHA-256 of the file; of a big one remembered by path, size and times of change.

    The time of the inode's change is among them: unlike that of the content it can't be set back.
    """
    path, stat = file.resolve(), file.stat()
    if stat.st_size < _REMEMBERED_FROM:
        return _hash(path)
    entry = cache / f"{hashlib.sha256(str(path).encode()).hexdigest()}.json"
    state = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    with suppress(OSError, ValueError, KeyError, TypeError):
        known = json.loads(entry.read_bytes())
        if known["state"] == state:
            return bytes.fromhex(known["sha256"])
    digest = _hash(path)
    with suppress(OSError):
        _write(entry, json.dumps({"path": str(path), "state": state, "sha256": digest.hex()}))
    return digest


def _hash(file: Path) -> bytes:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").digest()


def _write(entry: Path, text: str) -> None:
    """Atomically: another process sees the old entry or the whole new one."""
    entry.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=entry.parent)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    Path(name).replace(entry)
