"""The same picture in other bytes."""

import random
import struct
import zlib

SIDE = 24


def pixels(rng: random.Random) -> bytes:
    """Rows of red, green and blue, somewhat alike, so that they can be packed."""
    return bytes(rng.choice((0, 40, 80, 255)) for _ in range(SIDE * SIDE * 3))


def png(picture: bytes, level: int) -> bytes:
    """A file of it, packed as hard as `level` says: other levels are other bytes."""
    rows = [picture[start : start + SIDE * 3] for start in range(0, len(picture), SIDE * 3)]
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), level)
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", data), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def unpacked(file: bytes) -> bytes:
    """The pixels of such a file."""
    at, data = 8, b""
    while at < len(file):
        (size,) = struct.unpack(">I", file[at : at + 4])
        if file[at + 4 : at + 8] == b"IDAT":
            data += file[at + 8 : at + 8 + size]
        at += 12 + size
    rows = zlib.decompress(data)
    step = SIDE * 3 + 1
    return b"".join(rows[start + 1 : start + step] for start in range(0, len(rows), step))


def _chunk(name: bytes, data: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + data))
    return struct.pack(">I", len(data)) + name + data + check
