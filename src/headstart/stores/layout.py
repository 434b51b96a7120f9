"""Where things lie in a store's folder.

    <root>/<namespace>/namespace.json      what the namespace is, for people
    <root>/<namespace>/ab/<key>.kv         one record; ab is the key's first byte
    <root>/heat                            which chunks are used most, see heat.py
    <root>/tmp/<name>.<random>.tmp         a file that is being written

Whatever else is in the folder is not ours: never read, counted or removed.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from headstart.cache.keys import BlockKey
from headstart.stores.files import Files

NAMESPACE_FILE = "namespace.json"
HEAT_FILE = "heat"

_NAMESPACE = re.compile(r"[0-9a-f]{16}")
_SHARD = re.compile(r"[0-9a-f]{2}")
_CHUNK = re.compile(r"([0-9a-f]{64})\.kv")
_TEMP = re.compile(r"([0-9a-f]{64}|namespace|heat)\.[0-9a-f]+\.tmp")


def chunk_path(root: Path, folder: str, key: BlockKey) -> Path:
    """Where the chunk of `key` lies in the namespace's folder."""
    name = key.hex()
    return root / folder / name[:2] / f"{name}.kv"


def temp_path(root: Path, name: str, random: str) -> Path:
    """Where a file is written before it is renamed. `random` is in hex."""
    return root / "tmp" / f"{name}.{random}.tmp"


def walk(files: Files, root: Path) -> Iterator[tuple[str, BlockKey, Path]]:
    """Every chunk's namespace folder, key and path. What vanishes meanwhile is left out."""
    for folder in _names(files, root, _NAMESPACE):
        for shard in _names(files, root / folder, _SHARD):
            for name in _names(files, root / folder / shard, _CHUNK):
                yield folder, BlockKey(bytes.fromhex(name[:64])), root / folder / shard / name


def temps(files: Files, root: Path) -> list[Path]:
    """Files that are being written, or were when their writer died."""
    return [root / "tmp" / name for name in _names(files, root / "tmp", _TEMP)]


def _names(files: Files, folder: Path, pattern: re.Pattern[str]) -> list[str]:
    try:
        return sorted(name for name in files.names(folder) if pattern.fullmatch(name))
    except (FileNotFoundError, NotADirectoryError):
        return []
