"""A layout for people, also as Markdown."""

from collections.abc import Iterator, Sequence

from headstart.insight.layout.document import Laid, Layout, Part
from headstart.insight.layout.proof import Cost

MOST_PARTS = 24
"""Lines of one family's parts: all that are out of order, and the largest."""


def as_text(layout: Layout) -> str:
    """Without colours: it may go into a file."""
    blocks = ["\n".join(_family(laid, layout.counted)) for laid in layout.families]
    return "\n\n".join(blocks) + "\n"


def as_markdown(layout: Layout) -> str:
    """The same in a block, under a heading for each family."""
    blocks = []
    for laid in layout.families:
        head, *lines = _family(laid, layout.counted)
        blocks.append("\n".join([f"## {head}", "", "```text", *lines, "```"]))
    return "\n\n".join(blocks) + "\n"


def _family(laid: Laid, counted: str) -> Iterator[str]:
    many = "1 request" if laid.requests == 1 else f"{laid.requests:,} requests"
    of = f" of {laid.sessions:,} sessions" if 1 < laid.sessions < laid.requests else ""
    yield f"{laid.model or laid.vendor}: {many}{of}, tokens {counted}"
    yield ""
    yield "As it stands"
    for part in _chosen(laid.parts):
        yield _part(part, laid.requests)
    if not laid.in_order:
        yield ""
        yield "Out of order"
        if laid.tool_orders:
            yield f"  The same tools come in {laid.tool_orders} orders: sort them by name."
        for part in laid.misplaced:
            yield (
                f"  {part.pointer} ({part.segment.title}) keeps {part.behind:,} tokens behind it "
                f"from being read: it belongs {part.to}."
            )
            yield f"      {part.text}"
    yield ""
    yield f"As it should stand, in blocks of {laid.block}"
    for size in laid.sizes:
        if size.tokens:
            yield (
                f"  {size.segment + 1} {size.segment.title:<18}{size.tokens:>9,} tokens, through "
                f"{size.through:,}: {size.aligned:,} in whole blocks, {size.odd} odd"
            )
    if laid.markers:
        yield ""
        yield "Markers"
        for marker in laid.markers:
            yield (
                f"  after {marker.after} ({marker.pointer}), {marker.tokens:,} tokens, "
                f"for {marker.lifetime}"
            )
    yield ""
    proof = "Imagined: this request and another one after it" if laid.imagined else "Replayed"
    yield f"{proof}, under the rules of {laid.vendor}"
    yield from _costs(laid.given, laid.suggested)
    if laid.suggested == laid.given:
        yield "  No other order or marking costs less: it stands well."
    yield ""
    yield from laid.advice


def _chosen(parts: Sequence[Part]) -> list[Part]:
    largest = sorted(parts, key=lambda part: (not part.to, -part.tokens))[:MOST_PARTS]
    return [part for part in parts if part in largest]


def _part(part: Part, requests: int) -> str:
    seen = f"{part.values} of {part.requests}" if part.seen else "by its looks"
    sign = "!" if part.to else " "
    some = "" if part.requests == requests else f", in {part.requests} requests"
    return (
        f"{sign} {part.segment.title:<18}{part.tokens:>9,} tokens  {part.pointer}"
        f"  ({_values(part) if part.seen else seen}{some})"
    )


def _values(part: Part) -> str:
    return "1 value" if part.values == 1 else f"{part.values:,} values"


def _costs(given: Cost, suggested: Cost) -> Iterator[str]:
    for name, cost in (("as given", given), ("as suggested", suggested)):
        paid = "price unknown" if cost.paid is None else f"${cost.paid:.4f}"
        refused = f", {cost.refused} refused" if cost.refused else ""
        yield (
            f"  {name:<13} {cost.read:>11,} of {cost.prompt:,} tokens read ({cost.rate:.1%}), "
            f"{cost.written:,} written, {paid}{refused}"
        )
