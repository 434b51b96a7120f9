"""The self-describing record of one chunk: the KV of one or several consecutive blocks.

    preamble   fixed fields, little-endian, see _PREAMBLE
    text       the namespace, as canonical JSON
    tokens     u32 each
    zeros      so that the header is a multiple of 4 KiB
    16 bytes   xxh3-128 of the header so far
    payload    as the codec packed it; nothing follows

Every bit is under a checksum, and the key is recomputed from parent and tokens: a record can't be
taken for another prefix. The checksums find accidents. They don't stop somebody who may write here.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace

from xxhash import xxh3_128_digest

from headstart.cache.keys import TOKEN_BYTES, BlockKey, block_key
from headstart.stores.codec import RAW, Buffer, Codec, codec_of
from headstart.stores.errors import Corrupt, Foreign, Truncated, Unfit, WrongVersion
from headstart.stores.namespace import FORMAT, PersistentNamespace, parse

MAGIC = b"HEADKV\r\n"
PAGE = 4096
HEADER_LIMIT = 64 * 1024 * 1024
"""Bytes. No length found in a damaged header makes a reader allocate more than this."""

Fill = Callable[[memoryview], None]
"""Fills a buffer with the bytes that come next. Raises Truncated where there are not as many."""

# magic, format, flags, header length, codec, zero, token count, text length, first position,
# stored length, raw length, created (ns), namespace digest, key, parent, xxh3-128 of the payload
_PREAMBLE = struct.Struct("<8sHHIHHIIQQQQ32s32s32s16s")
_LOSSY = 1
_HASH = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One chunk and what it is."""

    namespace: PersistentNamespace
    key: BlockKey
    """The key of the chunk's last block."""
    parent: BlockKey
    """The key of the block before the chunk's first one; the root's key at position 0."""
    first_position: int
    tokens: bytes
    """The chunk's token ids, as `token_bytes` packs them: whole blocks."""
    created: int
    """Nanoseconds since 1970."""
    payload: Buffer
    """The KV bytes."""
    packed: "Packed | None" = None
    """How the payload is packed; None is as it is. Only who carries records on sees it packed."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What a codec made of a payload."""

    codec: int
    lossy: bool
    raw_length: int
    """Of the payload when it is unpacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What stands in front of a payload, its own checksum already verified."""

    length: int
    codec: int
    lossy: bool
    stored_length: int
    raw_length: int
    payload_hash: bytes
    record: Record
    """The record, but for the payload, which is empty."""


def encode(record: Record, codec: Codec) -> tuple[bytes, Buffer]:
    """Header and packed payload, to be written one after the other.

    Raises ValueError where the record contradicts itself: that is the caller's mistake.
    """
    _check_chain(record, ValueError)
    payload = memoryview(record.payload).cast("B")
    if record.packed is None:
        packed, stored = Packed(codec.id, codec.lossy, len(payload)), codec.pack(payload)
    else:
        packed, stored = record.packed, payload
    text = record.namespace.text
    used = _PREAMBLE.size + len(text) + len(record.tokens) + _HASH
    length = used + -used % PAGE
    preamble = _PREAMBLE.pack(
        MAGIC,
        FORMAT,
        _LOSSY if packed.lossy else 0,
        length,
        packed.codec,
        0,
        len(record.tokens) // TOKEN_BYTES,
        len(text),
        record.first_position,
        len(stored),
        packed.raw_length,
        record.created,
        record.namespace.digest,
        record.key,
        record.parent,
        xxh3_128_digest(stored),
    )
    body = b"".join((preamble, text, record.tokens, bytes(-used % PAGE)))
    return body + xxh3_128_digest(body), stored


def header_length(start: Buffer) -> int:
    """How long the header is whose first bytes, a page if there is one, are `start`."""
    if len(start) < _PREAMBLE.size:
        raise Truncated("not even a preamble")
    magic, version, _, length, *_ = _PREAMBLE.unpack_from(start)
    if magic != MAGIC:
        raise Corrupt("no record begins here")
    if version != FORMAT:
        raise WrongVersion(f"record format {version}, this release reads {FORMAT}")
    if not 0 < length <= HEADER_LIMIT or length % PAGE:
        raise Corrupt(f"a header of {length} bytes")
    return int(length)


def decode_header(data: Buffer) -> Header:
    """The header in `data`, which begins with it. Raises a RecordError if anything is amiss."""
    length = header_length(data)
    if len(data) < length:
        raise Truncated("the header is cut off")
    view = memoryview(data)[:length]
    if xxh3_128_digest(view[:-_HASH]) != view[-_HASH:]:
        raise Corrupt("the header's checksum is wrong")
    (_, _, flags, _, codec, _, count, text_length, first, stored, raw, created, *digests) = (
        _PREAMBLE.unpack_from(view)
    )
    tokens_at = _PREAMBLE.size + text_length
    tokens_end = tokens_at + count * TOKEN_BYTES
    if tokens_end > length - _HASH:
        raise Corrupt("the header's parts don't fit into it")
    try:
        namespace = parse(bytes(view[_PREAMBLE.size : tokens_at]))
    except ValueError as error:
        raise Corrupt(f"namespace: {error}") from error
    digest, key, parent, payload_hash = digests
    if namespace.digest != digest:
        raise Corrupt("the namespace's text and digest differ")
    record = Record(
        namespace=namespace,
        key=BlockKey(key),
        parent=BlockKey(parent),
        first_position=first,
        tokens=bytes(view[tokens_at:tokens_end]),
        created=created,
        payload=b"",
    )
    _check_chain(record, Corrupt)
    return Header(
        length=length,
        codec=codec,
        lossy=bool(flags & _LOSSY),
        stored_length=stored,
        raw_length=raw,
        payload_hash=payload_hash,
        record=record,
    )


def fill_from(data: Buffer) -> Fill:
    """Reads on in memory."""
    at = 0

    def fill(view: memoryview) -> None:
        nonlocal at
        if len(data) - at < len(view):
            raise Truncated("the record is cut off")
        view[:] = data[at : at + len(view)]
        at += len(view)

    return fill


def read_header(fill: Fill, total: int) -> Header:
    """The header of a record of `total` bytes, after which `fill` stands at the payload."""
    start = bytearray(min(PAGE, total))
    fill(memoryview(start))
    length = header_length(start)
    if length > total:
        raise Truncated("the header is cut off")
    data = bytearray(length)
    data[: len(start)] = start
    fill(memoryview(data)[len(start) :])
    header = decode_header(data)
    if header.length + header.stored_length > total:
        raise Truncated("the payload is cut off")
    if header.length + header.stored_length < total:
        raise Corrupt("something follows the payload")
    return header


def read_record(
    fill: Fill,
    total: int,
    namespace: PersistentNamespace,
    key: BlockKey,
    into: memoryview | None = None,
    *,
    codec: Codec | None = None,
) -> Record:
    """The record of `key`, whole and verified, or a StoreError.

    `codec`: known besides the lossless ones. `into` is scratch memory of the payload's exact
    length: on an error its content is undefined. Without it the payload is new memory.
    """
    header = read_header(fill, total)
    if header.record.namespace.digest != namespace.digest:
        raise Foreign("a record of another namespace")
    if header.record.key != key:
        raise Foreign("a record of another key")
    return read_payload(fill, header, into, codec=codec)


def read_packed(fill: Fill, header: Header) -> Record:
    """The record whose header was just read, its payload verified and left as it is packed."""
    stored = memoryview(bytearray(header.stored_length))
    fill(stored)
    if xxh3_128_digest(stored) != header.payload_hash:
        raise Corrupt("the payload's checksum is wrong")
    packed = Packed(header.codec, header.lossy, header.raw_length)
    return replace(header.record, payload=stored, packed=packed)


def read_payload(
    fill: Fill, header: Header, into: memoryview | None = None, *, codec: Codec | None = None
) -> Record:
    """The record whose header was just read, its payload verified and unpacked.

    `codec`: known besides the lossless ones.
    """
    codec = codec_of(header.codec, codec)
    if codec.lossy != header.lossy:
        raise WrongVersion("the codec does not keep every bit, or says that it does")
    if into is not None and len(into) != header.raw_length:
        raise Unfit(f"{header.raw_length} bytes of payload for a buffer of {len(into)}")
    payload = memoryview(bytearray(header.raw_length)) if into is None else into
    in_place = codec.id == RAW and header.stored_length == header.raw_length
    stored = payload if in_place else memoryview(bytearray(header.stored_length))
    fill(stored)
    if xxh3_128_digest(stored) != header.payload_hash:
        raise Corrupt("the payload's checksum is wrong")
    if not in_place:
        codec.unpack(stored, payload)
    return replace(header.record, payload=payload)


def _check_chain(record: Record, error: type[Corrupt] | type[ValueError]) -> None:
    """Whole blocks, at a block's position, and the key is what parent and tokens make."""
    block = record.namespace.namespace.block_size * TOKEN_BYTES
    if block <= 0 or not record.tokens or len(record.tokens) % block:
        raise error("the tokens are not whole blocks")
    if record.first_position % record.namespace.namespace.block_size:
        raise error("the first position is not that of a block")
    key = record.parent
    for start in range(0, len(record.tokens), block):
        key = block_key(key, record.tokens[start : start + block])
    if key != record.key:
        raise error("the key is not that of these tokens behind this parent")
