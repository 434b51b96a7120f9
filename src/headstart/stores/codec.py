"""How a payload is packed at rest. The id stands in the record, never in the key.

Ids: 0 raw, 1 zstd, 2 int8, 3 fp8. The last two are lossy and know tensors: who allows them passes
them in (`headstart.model.lossy`). Nobody else unpacks them, but everybody can carry them on.
"""

from typing import Protocol

from headstart.stores.errors import CodecMissing, Corrupt, WrongVersion

Buffer = bytes | bytearray | memoryview

RAW, ZSTD, INT8, FP8 = range(4)


class Codec(Protocol):
    """Packs a payload and unpacks it again; safe to use from several threads."""

    id: int
    """As written in the record."""
    lossy: bool
    """True where unpacking may give other bytes than were packed."""

    def pack(self, payload: Buffer) -> Buffer:
        """The bytes to store; they may be `payload` itself."""

    def unpack(self, stored: Buffer, into: memoryview) -> None:
        """Fill `into`, which has the payload's length. Raises Corrupt where that is impossible."""


class Raw:
    """As it is: KV hardly compresses, and copying is what reading costs."""

    id = RAW
    lossy = False

    def pack(self, payload: Buffer) -> Buffer:
        """`payload` itself."""
        return payload

    def unpack(self, stored: Buffer, into: memoryview) -> None:
        """Copy."""
        if len(stored) != len(into):
            raise Corrupt("a raw payload has two lengths")
        into[:] = stored


class Zstd:
    """Lossless. Needs the package `zstandard`: raises CodecMissing without it."""

    id = ZSTD
    lossy = False

    def __init__(self, level: int = 1) -> None:
        try:
            import zstandard
        except ImportError as error:
            raise CodecMissing("zstd needs the package zstandard") from error
        self._zstd = zstandard
        self._level = level

    def pack(self, payload: Buffer) -> Buffer:
        """One zstd frame."""
        return self._zstd.ZstdCompressor(level=self._level).compress(payload)

    def unpack(self, stored: Buffer, into: memoryview) -> None:
        """Never writes beyond `into`, however much the frame says it holds."""
        done = 0
        try:
            with self._zstd.ZstdDecompressor().stream_reader(stored) as frame:
                while done < len(into) and (count := frame.readinto(into[done:])):
                    done += count
                more = frame.read(1)
        except self._zstd.ZstdError as error:
            raise Corrupt(f"zstd: {error}") from error
        if done < len(into) or more:
            raise Corrupt("a zstd frame has another length than its record says")


def codec_of(codec_id: int, known: Codec | None = None) -> Codec:
    """The codec of a record, `known` if it is that. Raises WrongVersion or CodecMissing."""
    if known is not None and known.id == codec_id:
        return known
    match codec_id:
        case 0:
            return Raw()
        case 1:
            return Zstd()
        case 2 | 3:
            raise WrongVersion("a lossy codec, which nobody has allowed here")
        case _:
            raise WrongVersion(f"codec {codec_id} is not known here")
