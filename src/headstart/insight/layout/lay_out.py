"""From requests to what is said of their layout."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.count import Counts
from headstart.insight.asked.count.counter import label
from headstart.insight.asked.piece import EARLY
from headstart.insight.asked.prompt import to_prompt
from headstart.insight.causes import ABOUT, Cause
from headstart.insight.compare.volatile import CLIENT_LINE, Suspects
from headstart.insight.layout.advice import advice
from headstart.insight.layout.bits import Bit, Key, by_looks
from headstart.insight.layout.by_data import by_data
from headstart.insight.layout.document import Gap, Laid, Layout, Marker, Part, Size
from headstart.insight.layout.edges import BY_MARKS
from headstart.insight.layout.families import Family, families
from headstart.insight.layout.proof import Marking, Prover, edge_indices, marked
from headstart.insight.layout.rearrange import Placed, as_given, leaves, rearranged, request
from headstart.insight.layout.segment import Segment
from headstart.insight.shown import Show
from headstart.ledger import Profile

WORTH = Decimal("0.95")
"""Of the cost as given: what saves less is not worth another order."""
SOME = 64
"""Tokens behind a part that are worth moving it for: the least that any vendor caches."""


def lay_out(
    requests: Iterable[Asked], counts: Counts, prover: Prover, block: int, show: Show
) -> Layout:
    """Every family, by its tokens."""
    suspects = Suspects()
    laid = [_family(each, counts, prover, block, show, suspects) for each in families(requests)]
    laid.sort(key=lambda each: -each.given.prompt)
    return Layout(label(counts.counter), laid)


def _family(
    family: Family, counts: Counts, prover: Prover, block: int, show: Show, suspects: Suspects
) -> Laid:
    requests = family.requests
    alone = len(requests) == 1
    if alone:
        cut = [by_looks(requests[0], suspects)]
        requests = [requests[0], imagined(requests[0], cut[0])]
        cut.append(by_looks(requests[1], suspects))
    else:
        cut = by_data(family, suspects)
    order = [rearranged(bits) for bits in cut]
    profile = prover.profile(requests[0])
    given = prover.cost(requests)
    marking: Marking | None
    marking, suggested = prover.best(requests, order, profile)
    count = 1 if alone else len(requests)
    parts = _parts(cut[:count], counts, show)
    orders = _tool_orders(requests[:count])
    if (suggested.refused, suggested.weight) >= (given.refused, given.weight * WORTH):
        # Nothing much is gained, so it stands well.
        suggested, marking, order = given, None, [as_given(bits) for bits in cut]
        parts = [replace(part, to="") for part in parts]
        orders = 0
    sizes = _sizes(order[:count], counts, block)
    laid = Laid(
        profile.vendor,
        requests[0].model,
        count,
        len(set(family.sessions)),
        parts,
        sizes,
        block,
        given,
        suggested,
        [] if marking is None else _markers(requests, order, profile, marking, counts),
        _gaps(family, profile),
        (),
        alone,
        orders,
    )
    return replace(laid, advice=advice(laid, family, profile, prover.rates(requests[0])))


def _tool_orders(requests: Sequence[Asked]) -> int:
    """In how many orders the tools come that come in several; 0 if none do."""
    found: dict[frozenset[str], set[tuple[str, ...]]] = defaultdict(set)
    for asked in requests:
        names = tuple(piece.name for piece in asked.pieces if piece.kind == "tool")
        found[frozenset(names)].add(names)
    most = max(map(len, found.values()))
    return most if most > 1 else 0


def imagined(asked: Asked, bits: Sequence[Bit]) -> Asked:
    """The next request of another user: what looks as if it changed has changed."""
    texts: dict[int, str] = defaultdict(str)
    for bit in bits:
        texts[id(bit.piece)] += _other(bit.text) if bit.segment is Segment.NOW else bit.text
    pieces = [replace(piece, text=texts[id(piece)], json=False) for piece in asked.pieces]
    return replace(asked, pieces=pieces, tokens=None)


_DIGITS = str.maketrans("0123456789", "1234567890")


def _other(text: str) -> str:
    """As long, and another one."""
    turned = text.translate(_DIGITS)
    return turned if turned != text else text[::-1]


def _parts(cut: Sequence[Sequence[Bit]], counts: Counts, show: Show) -> list[Part]:
    found: dict[Key, list[Bit]] = defaultdict(list)
    sizes: dict[Key, int] = defaultdict(int)
    behind: dict[Key, int] = {}
    for bits in cut:
        longer = [0] * len(Segment)
        for bit in reversed(bits):
            key = _shown_key(bit)
            tokens = _tokens(bit, counts)
            found[key].append(bit)
            sizes[key] += tokens
            if bit.piece.kind in EARLY:
                behind[key] = max(behind.get(key, 0), sum(longer[: bit.segment]))
            elif bit.key[:2] == ("message", 0):
                # Documents that are ranked for a question stand well in front of it.
                stays = longer[: min(bit.segment, Segment.SESSION)]
                behind[key] = max(behind.get(key, 0), sum(stays))
            longer[bit.segment] += tokens
    first: dict[Key, int] = {}
    for bits in cut:
        for index, bit in enumerate(bits):
            first.setdefault(_shown_key(bit), index)
    parts = []
    for key in sorted(found, key=lambda key: first[key]):
        bits = found[key][::-1]
        bit = bits[0]
        stands = behind.get(key, 0) if behind.get(key, 0) >= SOME else 0
        parts.append(
            Part(
                bit.segment,
                bit.piece.pointer,
                sizes[key] // len(bits),
                len(bits),
                len({each.text for each in bits}),
                all(each.seen for each in bits),
                show(bit.text.strip()),
                stands,
                _to(bit) if stands else "",
            )
        )
    return parts


def _shown_key(bit: Bit) -> Key:
    """All of a conversation behind its first message is one part."""
    later = bit.key[0] == "message" and bit.key[:2] > ("message", 0)
    return ("history", bit.segment) if later else bit.key


def _to(bit: Bit) -> str:
    if CLIENT_LINE.match(bit.text.lstrip()):
        return f"nowhere in the prompt ({ABOUT[Cause.CLIENT_LINE].code})"
    if leaves(bit):
        return "at the end of the last message"
    where = "tools" if bit.piece.kind == "tool" else "system prompt"
    where = where if bit.piece.kind in EARLY else "message"
    return f"at the end of the {where}, behind what stays longer"


def _tokens(bit: Bit, counts: Counts) -> int:
    return counts.tokens(bit.alone)


def _sizes(order: Sequence[Sequence[Placed]], counts: Counts, block: int) -> list[Size]:
    """On average over the requests."""
    sums = [0] * len(Segment)
    for placed in order:
        for each in placed:
            sums[each.segment] += counts.tokens(each.piece)
    sizes = []
    through = 0
    for segment in Segment:
        tokens = sums[segment] // len(order)
        through += tokens
        sizes.append(Size(segment, tokens, through, through // block * block))
    return sizes


def _markers(
    requests: Sequence[Asked],
    order: Sequence[Sequence[Placed]],
    profile: Profile,
    marking: Marking,
    counts: Counts,
) -> list[Marker]:
    """Those of the last request; none where the vendor takes none, or none pays."""
    if profile.contract not in BY_MARKS:
        return []
    plain = to_prompt(request(requests[-1], order[-1]), counts)
    last = marked(plain, order[-1], profile, marking)
    edges = set(edge_indices(order[-1], profile))
    return [
        Marker(
            order[-1][index].segment.title if index in edges else "conversation",
            order[-1][index].piece.pointer,
            last.ends[index],
            block.mark.ttl or profile.default_lifetime or "",
        )
        for index, block in enumerate(last.blocks)
        if block.mark is not None and last.ends[index] >= profile.minimum
    ]


def _gaps(family: Family, profile: Profile) -> list[Gap]:
    """Between one request and the next; none where times are unknown."""
    times = sorted(asked.time for asked in family.requests if asked.time is not None)
    gaps = [after - before for before, after in pairwise(times)]
    if not gaps:
        return []
    return [
        Gap(name, life.seconds, sum(gap <= life.seconds for gap in gaps) / len(gaps))
        for name, life in profile.lifetimes.items()
    ]
