"""What entries are found by: a digest of everything from the prompt's first word to their end."""

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence

from xxhash import xxh3_128, xxh3_128_digest

from headstart.contracts.entries import Entries
from headstart.contracts.plan import Hit
from headstart.contracts.prompt import Block, Prompt, digest


def root(*names: str) -> bytes:
    """Where the keys of one contract, model, partition, … begin: what shares nothing."""
    return digest("root", *names)


def settings_digest(settings: Mapping[str, str], names: Collection[str]) -> bytes:
    """Those of `settings` that are named."""
    chosen = sorted((name, value) for name, value in settings.items() if name in names)
    return digest("settings", *(part for pair in chosen for part in pair))


def block_keys(
    first: bytes,
    blocks: Sequence[Block],
    ends: Collection[int],
    before: Mapping[int, Iterable[bytes]] | None = None,
) -> dict[int, bytes]:
    """The keys of the prefixes through the blocks with these indices.

    `before`: what else counts from a block on. One pass, and one digest for each index.
    """
    if not ends:
        return {}
    state = xxh3_128(first)
    last = max(ends)
    stops = {*ends, *(index - 1 for index in before or () if index <= last)}
    keys = {}
    begin = 0
    for stop in sorted(stops):
        state.update(b"".join([block.digest for block in blocks[begin : stop + 1]]))
        begin = stop + 1
        if stop in ends:
            keys[stop] = state.copy().digest()
        for part in () if before is None else before.get(begin, ()):
            state.update(part)
    return keys


def unit_keys(first: bytes, ids: Sequence[int], unit: int, minimum: int = 0) -> list[bytes]:
    """The keys of the prefixes of each whole multiple of `unit` tokens from `minimum` on.

    Each is made from the one before it: with the last one as `first`, keys go on behind it. `ids`
    may be an `array("I")`, or give one as its slice, which spares the packing.
    """
    packed = ids if isinstance(ids, array) and ids.typecode == "I" else array("I", ids[:])
    step = unit * packed.itemsize
    words = memoryview(packed).cast("B")
    key = first
    keys = []
    for begin in range(0, len(words) - step + 1, step):
        key = xxh3_128_digest(key + words[begin : begin + step])
        keys.append(key)
    return keys[first_unit(unit, minimum) // unit - 1 :]


def first_unit(unit: int, minimum: int) -> int:
    """The smallest multiple of `unit`, above 0, that is not below `minimum`."""
    return max(1, -(-minimum // unit)) * unit


def longest_unit(
    keys: Sequence[bytes], prompt: Prompt, entries: Entries, now: float, *, unit: int, minimum: int
) -> Hit | None:
    """The longest of the `unit_keys` that lives. The reading of it gives nothing of its own."""
    for index in range(len(keys) - 1, -1, -1):
        if entries.find(prompt.tenant, keys[index], now) is not None:
            return Hit(keys[index], first_unit(unit, minimum) + index * unit)
    return None


def longest_block(
    keys: Mapping[int, bytes], prompt: Prompt, entries: Entries, now: float
) -> Hit | None:
    """The longest of the `block_keys` that lives."""
    for index in sorted(keys, reverse=True):
        entry = entries.find(prompt.tenant, keys[index], now)
        if entry is not None:
            return Hit(keys[index], prompt.ends[index], entry.lifetime, entry.seconds)
    return None
