"""How caching does."""

from collections.abc import Iterator, Sequence

from headstart.insight.plan.figure import Column, Figure, Kind, Section, Table, Value
from headstart.insight.report.material import Material
from headstart.insight.report.sessions import expected
from headstart.insight.report.sums import Sums
from headstart.insight.report.tally import in_order

MOST_ROWS = 50
"""Groups in the text and the JSON; the CSV has all."""
PRESETS = (
    ("third turn of a chat", 3500 + 500, 200),
    ("questions with retrieval", 3500, 500 + 200),
    ("short instructions, a new document each time", 800, 3200 + 200),
)
"""(what, tokens that stay, tokens that change): prompts of 4,200 tokens."""


def section(material: Material) -> Section:
    """Rates with the tokens and the money they are of."""
    tally = material.tally
    figures = [*_rates(material), *_sessions(material)]
    tables = [*_groups(material), _presets(tally.total)]
    window = material.window
    if window is not None:
        figures += _server(material)
    return Section("How caching does", figures, tables)


def _rates(material: Material) -> Iterator[Figure]:
    total, kind = material.tally.total, rate_kind(material)
    read = f"{total.read:,} of {total.prompt:,} prompt tokens"
    yield Figure("token_hit_rate", "token hit rate", total.hit_rate, "share", kind, read)
    how = "no bodies and no ledger that knows it"
    if total.ceiling is not None:
        how = f"an endless cache: {total.reusable:,} of {total.known:,}"
    yield Figure("ceiling", "its ceiling r", total.ceiling, "share", ceiling_kind(material), how)


def rate_kind(material: Material) -> Kind:
    """Of what follows from the tokens alone."""
    return "derived" if material.kind == "measured" else "estimated"


def ceiling_kind(material: Material) -> Kind:
    """A ledger has it counted; from bodies it is estimated in proportion to their texts."""
    known = material.ledgers and not material.tally.bodies
    return "derived" if known else "estimated"


def _sessions(material: Material) -> Iterator[Figure]:
    heard = material.tally.sessions
    if not heard.known:
        yield Figure("sessions", "sessions", None, "", "measured", "no bodies and no session ids")
        return
    lengths = heard.lengths()
    sessions = sum(each.sessions for each in lengths.values())
    prompt = sum(each.prompt for each in lengths.values())
    yield Figure("sessions", "sessions", sessions, "", "derived", "by id, or by what goes on")
    middle, seen = 0, 0
    for turns, each in lengths.items():
        seen += each.sessions
        if 2 * seen >= sessions:
            middle = turns
            break
    yield Figure("turns", "turns T of the middle one", middle, "", "derived")
    wanted = sum(expected(turns) * each.prompt for turns, each in lengths.items())
    yield Figure(
        "expected",
        "expected if only appended",
        wanted / prompt if prompt else None,
        "share",
        "estimated",
        "(T-1)/(T+1) of each session, by its tokens",
    )
    read = sum(each.read for each in lengths.values())
    yield Figure(
        "sessions_actual",
        "actual of the same",
        read / prompt if prompt else None,
        "share",
        rate_kind(material),
        f"{read:,} of {prompt:,} prompt tokens",
    )


def _server(material: Material) -> Iterator[Figure]:
    window = material.window
    assert window is not None, "the caller saw one"
    several = len(material.scrapes) > 1
    over = "between the scrapes" if several else "since the server's start"
    how = over
    if window.hit_rate is not None:
        how = f"{window.cached:,} of {window.prompt:,} prompt tokens {over}"
    name = window.engine
    yield Figure("server_hit_rate", f"{name}'s hit rate", window.hit_rate, "share", "derived", how)
    if window.claimed is not None:
        yield Figure(
            "server_claim",
            f"{name} itself states",
            window.claimed,
            "share",
            "measured",
            "of which requests it doesn't say",
        )
    told: Sequence[tuple[str, str, Value]] = (
        ("server_output", "generated tokens", window.output),
        ("server_evicted", "evicted", window.evicted),
        ("server_preempted", "requests set back", window.preempted),
        ("server_running", "requests at a time", window.running),
    )
    for key, label, value in told:
        if value is not None:
            when = "at the last scrape" if key == "server_running" else over
            yield Figure(key, label, value, "", "measured", when)
    if window.filled is not None:
        how = "at the last scrape"
        yield Figure("server_filled", "KV memory in use", window.filled, "share", "measured", how)


def _groups(material: Material) -> Iterator[Table]:
    tally, kind, rates = material.tally, material.kind, rate_kind(material)
    if not tally.total.requests:
        return
    columns = (
        Column("name", material.by, "", "measured"),
        Column("requests", "requests", "", "measured"),
        *(
            Column(name, name, "tokens", kind)
            for name in ("prompt", "fresh", "read", "written", "output")
        ),
        Column("hit_rate", "hit rate", "share", rates),
        Column("ceiling", "ceiling", "share", ceiling_kind(material)),
        Column("paid", "paid", "USD", rates),
        Column("without_cache", "no cache", "USD", rates),
        Column("saved", "saved", "USD", rates),
        Column("priced", "priced", "", "measured"),
    )
    groups = in_order(tally.groups)
    shown = sorted(groups, key=lambda each: (-each[1].prompt, each[0]))[:MOST_ROWS]
    rows = [_row(name, sums, kind) for name, sums in (*shown, ("all", tally.total))]
    hidden = len(groups) - len(shown)
    note = f"{hidden} smaller groups are not shown; the CSV has them." if hidden else ""
    yield Table("groups", f"By {material.by}", columns, rows, note)


def _row(name: str, sums: Sums, kind: Kind) -> Sequence[Value]:
    paid, plain, saved = sums.money or (None, None, None)
    return (
        printable(name),
        sums.requests,
        sums.prompt,
        sums.fresh,
        sums.read,
        sums.all_written,
        sums.output if kind == "measured" else None,
        sums.hit_rate,
        sums.ceiling,
        paid,
        plain,
        saved,
        sums.priced,
    )


def printable(name: str) -> str:
    """Names come from clients: no control characters reach the terminal."""
    return name if name.isprintable() else ascii(name)


def _presets(total: Sums) -> Table:
    columns = (
        Column("what", "prompts like", "", "derived"),
        Column("stays", "stays", "tokens", "derived"),
        Column("changes", "changes", "tokens", "derived"),
        Column("ceiling", "ceiling r", "share", "derived"),
    )
    rows: list[Sequence[Value]] = [
        (what, stays, changes, stays / (stays + changes)) for what, stays, changes in PRESETS
    ]
    if total.known:
        changes = total.known - total.reusable
        rows.append(("these requests, all", total.reusable, changes, total.ceiling))
    return Table("presets", "For comparison: r = P / (P + Q)", columns, rows)
