"""How long each part of a prompt stays the same, as the requests of a family show it."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace

from headstart.insight.asked.piece import Piece
from headstart.insight.compare.volatile import Suspects
from headstart.insight.layout.bits import Bit, Key, Runs, in_runs, keys, runs_of
from headstart.insight.layout.clauses import Template
from headstart.insight.layout.families import Family
from headstart.insight.layout.segment import Segment

MOST_TEXTS = 256
"""Different texts of one place that its template is found from."""

HALF = 0.5
"""Of the requests, that have to speak for a stay."""
Held = dict[int, Piece]
"""What stands in one place, by request."""


def by_data(family: Family, suspects: Suspects) -> list[list[Bit]]:
    """The bits of each request, in its own order."""
    places: dict[Key, Held] = defaultdict(dict)
    orders: list[list[Key]] = []
    for index, asked in enumerate(family.requests):
        listed = list(keys(asked))
        orders.append([key for key, _ in listed])
        for key, piece in listed:
            places[key][index] = piece
    cut = {key: _place(family, key, held, suspects) for key, held in places.items()}
    return [[bit for key in order for bit in cut[key][index]] for index, order in enumerate(orders)]


def _place(family: Family, key: Key, held: Held, suspects: Suspects) -> dict[int, list[Bit]]:
    texts = dict.fromkeys(piece.text for piece in held.values())
    optional = key[0] != "message" and len(held) < len(family.requests)
    later = key[0] == "message" and key[1] != 0
    whole = later or key[0] == "tool" or any(piece.media for piece in held.values())
    if whole or optional:
        values: dict[int, str] = {index: piece.text for index, piece in held.items()}
        if optional:
            values = {index: values.get(index, "") for index in range(len(family.requests))}
        segment = _stays(family, values, spoken=key[0] == "message")
        return {i: [Bit(key, segment, piece, piece.text, seen=True)] for i, piece in held.items()}
    template = Template(next(iter(texts)))
    for text in list(texts)[:MOST_TEXTS]:
        template.hear(text)
    return _cut(family, key, held, template, suspects)


def _cut(
    family: Family, key: Key, held: Held, template: Template, suspects: Suspects
) -> dict[int, list[Bit]]:
    parts = {i: template.cut(piece.text) or [piece.text] for i, piece in held.items()}
    usual = 2 * len(template.shared) + 1
    segments: list[Segment] = []
    for number in range(usual):
        values = {i: said[number] for i, said in parts.items() if len(said) == usual}
        segments.append(_stays(family, values, spoken=key[0] == "message"))
    found: dict[int, list[Bit]] = {}
    runs: dict[str, Runs] = {}
    one_day = len({family.day(index) for index in held}) == 1
    for index, said in parts.items():
        piece = held[index]
        if len(said) != usual:
            found[index] = [Bit((*key, 0), Segment.NOW, piece, piece.text, seen=True)]
            continue
        bits: list[Bit] = []
        for number, text in enumerate(said):
            if not text:
                continue
            if number % 2 and one_day and key[0] == "system":
                # No other day was seen, so a date tells of itself alone.
                if text not in runs:
                    runs[text] = runs_of(text, suspects, only=(Segment.DAILY,))
                bits += _seen(in_runs((*key, number), piece, runs[text]))
            else:
                bits.append(Bit((*key, number), segments[number], piece, text, seen=True))
        found[index] = bits
    return found


def _seen(bits: Iterable[Bit]) -> list[Bit]:
    """What stays in spite of its looks was seen to."""
    return [bit if bit.segment else replace(bit, seen=True) for bit in bits]


def _stays(family: Family, values: dict[int, str], *, spoken: bool) -> Segment:
    """The longest stay that the values allow and that more than one request speaks for."""
    asked, sessions = family.requests, family.sessions
    if len(set(values.values())) <= 1 and (not spoken or len({sessions[i] for i in values}) > 1):
        return Segment.ALWAYS
    if not spoken:
        ways: tuple[Callable[[int], Hashable], ...] = (
            lambda i: asked[i].tenant,
            family.day,
            lambda i: (asked[i].tenant, family.day(i)),
        )
        for of in ways:
            if _holds(values, {i: of(i) for i in values}):
                return Segment.DAILY
    # What ends a session is new when it is sent, and would be sent again with a further turn.
    least = 0.0 if spoken and len(set(sessions)) < len(sessions) else HALF
    return Segment.SESSION if _holds(values, dict(enumerate(sessions)), least) else Segment.NOW


def _holds(values: dict[int, str], groups: dict[int, Hashable], least: float = HALF) -> bool:
    """Whether a group has one value, and this share of the requests has another in its group."""
    found: dict[Hashable, set[str]] = defaultdict(set)
    sizes: dict[Hashable, int] = defaultdict(int)
    for index, value in values.items():
        found[groups[index]].add(value)
        sizes[groups[index]] += 1
    if any(len(each) > 1 for each in found.values()):
        return False
    return sum(size for size in sizes.values() if size > 1) >= least * len(values)
