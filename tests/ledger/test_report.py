import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.search import examples

from headstart.ledger import (
    BYS,
    Account,
    Bill,
    By,
    Group,
    LedgerError,
    PriceBook,
    PriceFile,
    Report,
    Row,
    Rules,
    Tariff,
    report,
)
from headstart.ledger.encode import insert
from headstart.ledger.schema import open_for_writing

Pairs = Iterable[tuple[Row, Bill | None]]
Write = Callable[[Pairs], Path]
MakeRow = Callable[..., Row]


def cents(paid: str, plain: str) -> Bill:
    return Bill(Decimal(paid), Decimal(plain), Decimal(0), {})


def groups(found: Report) -> dict[str, Group]:
    return {group.name: group for group in found.groups}


def test_the_hit_rate_is_of_tokens_and_not_a_mean_of_requests(write: Write, row: MakeRow) -> None:
    path = write([(row(Account(100, 100)), None), (row(Account(900, 0)), None)])

    assert report(path).total.hit_rate == 0.1


def test_the_ceiling_speaks_for_the_requests_that_know_it(write: Write, row: MakeRow) -> None:
    path = write(
        [
            (row(Account(100, 40), reusable_ever=80), None),
            (row(Account(100, 0), reusable_ever=0), None),
            (row(Account(300, 300)), None),
        ]
    )

    total = report(path).total

    assert (total.ceiling, total.ceiling_prompt) == (0.4, 200)
    assert report(path, tenant="nobody").total.ceiling is None


def test_unknown_money_is_left_out_and_counted_and_never_0(write: Write, row: MakeRow) -> None:
    path = write(
        [
            (row(model="a"), cents("0.01", "0.03")),
            (row(model="a"), None),
            (row(model="b"), None),
        ]
    )

    found = groups(report(path, "model"))

    assert (found["a"].paid, found["a"].saved) == (Decimal("0.01"), Decimal("0.02"))
    assert (found["a"].priced, found["a"].requests) == (1, 2)
    assert (found["b"].paid, found["b"].plain, found["b"].saved) == (None, None, None)


def test_storage_is_paid_for_and_is_no_request(write: Write, row: MakeRow) -> None:
    stored = Account(0, 0, token_seconds=3600)
    rent = Bill(Decimal("0.01"), Decimal(0), Decimal("0.01"), {})
    asked = (row(model="a"), cents("0.02", "0.02"))
    path = write(
        [
            asked,
            *[(row(stored, model="a"), rent)] * 3,
            asked,
            (row(stored, model="a"), None),
            (row(stored, model="b"), rent),
        ]
    )

    found = groups(report(path, "model"))

    assert (found["a"].requests, found["a"].priced) == (2, 2)
    assert (found["a"].paid, found["a"].token_seconds) == (Decimal("0.07"), 4 * 3600)
    assert (found["a"].rent, found["a"].partial) == (None, True)
    assert (found["b"].requests, found["b"].rent, found["b"].partial) == (0, Decimal("0.01"), False)


def test_break_even_is_the_mean_over_written_tokens_by_lifetime(write: Write, row: MakeRow) -> None:
    due = {"5m": Decimal("0.25"), "1h": Decimal("1.5")}
    bill = Bill(Decimal(1), Decimal(1), Decimal(0), due)
    other = Bill(Decimal(1), Decimal(1), Decimal(0), {"5m": Decimal("0.5")})
    path = write(
        [
            (row(Account(4000, 0, written={"5m": 3000, "1h": 100})), bill),
            (row(Account(1000, 0, written={"5m": 1000})), other),
            (row(Account(500, 0, written={"5m": 500})), None),
        ]
    )

    written = report(path).total.written

    assert written["5m"].tokens == 4500
    assert written["5m"].break_even == pytest.approx((3000 * 0.25 + 1000 * 0.5) / 4000)
    assert (written["1h"].tokens, written["1h"].break_even) == (100, 1.5)


def test_hours_are_those_of_utc(write: Write, row: MakeRow) -> None:
    times = [
        datetime(2026, 11, 30, hour, minute, tzinfo=UTC).timestamp()
        for hour, minute in ((9, 0), (9, 59), (10, 0))
    ]
    path = write([(row(time=time), None) for time in times])

    found = {name: group.requests for name, group in groups(report(path, "hour")).items()}

    assert found == {"2026-11-30T09:00Z": 2, "2026-11-30T10:00Z": 1}


def test_a_period_begins_with_its_first_moment_and_ends_before_its_last(
    write: Write, row: MakeRow
) -> None:
    path = write([(row(time=float(time)), None) for time in range(10)])

    assert report(path, since=3.0, until=6.0).total.requests == 3
    assert report(path, since=3.0).total.requests == 7
    assert report(path, until=3.0).total.requests == 3


def test_a_tenant_sees_its_own_alone(write: Write, row: MakeRow) -> None:
    path = write([(row(tenant=tenant, model=tenant), None) for tenant in "aab"])

    found = report(path, "model", tenant="a")

    assert (found.total.requests, list(groups(found))) == (2, ["a"])


def test_an_empty_period_has_no_groups_and_no_rates(write: Write, row: MakeRow) -> None:
    path = write([(row(), None)])

    found = report(path, "model", since=9e9)

    assert found.groups == []
    assert found.total.requests == found.total.prompt == found.total.fresh == 0
    assert (found.total.hit_rate, found.total.ceiling, found.total.paid) == (None, None, None)


def test_sums_of_money_do_not_overflow_64_bits(write: Write, row: MakeRow) -> None:
    path = write([(row(), cents("9000000.000000000001", "9000000"))] * 3)

    assert report(path).total.paid == Decimal("27000000.000000000003")


def test_new_prices_change_the_models_they_name_and_not_the_file(
    write: Write, row: MakeRow
) -> None:
    path = write(
        [
            (row(Account(2050, 0, written={"5m": 2000}), model="named"), cents("9", "9")),
            (row(Account(2050, 2000), model="named"), None),
            (row(model="other"), cents("1", "3")),
        ]
    )
    text = "[models.anthropic.named]\ninput = 5\noutput = 25"
    prices = PriceFile.parse(text, "test", as_json=False)
    tariff = Tariff(Rules.packaged(), PriceBook([prices]))

    found = groups(report(path, "model", tariff=tariff))

    assert found["named"].paid == Decimal("0.01275") + Decimal("0.00125")
    assert found["named"].written["5m"].break_even == pytest.approx(0.25 / 0.9)
    assert found["other"].paid == 1
    assert groups(report(path, "model"))["named"].paid == 9


def test_a_damaged_file_is_one_clear_error(write: Write, row: MakeRow) -> None:
    path = write([(row(request="r" * 5000), None) for _ in range(50)])
    damaged = bytearray(path.read_bytes())
    damaged[4096:] = b"\xff" * (len(damaged) - 4096)
    path.write_bytes(damaged)

    with pytest.raises(LedgerError, match="cannot be read"):
        report(path)


def test_reading_leaves_writers_alone(write: Write, row: MakeRow) -> None:
    path = write([(row(), None)])

    with closing(open_for_writing(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert insert(connection, row(), None)
        assert report(path).total.requests == 1
        connection.execute("COMMIT")
    assert report(path).total.requests == 2


AMOUNTS = st.integers(0, 10**15).map(lambda pico: Decimal(pico) / 10**12)
TOKENS = st.integers(0, 10_000)
BILLS = st.none() | st.builds(Bill, AMOUNTS, AMOUNTS, AMOUNTS, st.just({"5m": Decimal("0.25")}))


@st.composite
def rows(draw: st.DrawFn) -> Row:
    fresh, read, five, hour = (draw(TOKENS) for _ in range(4))
    account = Account(fresh + read + five + hour, read, draw(TOKENS), {"5m": five, "1h": hour})
    return Row(
        time=draw(st.integers(0, 5)) * 1800.0,
        request="r",
        tenant=draw(st.sampled_from("ab")),
        key=draw(st.sampled_from("xyz")),
        model=draw(st.sampled_from(["m", "n", ""])),
        contract="anthropic",
        dialect="messages",
        account=account,
        reused=draw(TOKENS),
        reason=draw(st.sampled_from(["", "never seen"])),
        reusable_ever=draw(st.none() | TOKENS),
    )


def naive(pairs: list[tuple[Row, Bill | None]]) -> dict[str, object]:
    """What a group must hold, added up by hand."""
    bills = [bill for _, bill in pairs if bill is not None]
    know = [row for row, _ in pairs if row.reusable_ever is not None]
    return {
        "requests": sum(row.account.prompt > 0 for row, _ in pairs),
        "prompt": sum(row.account.prompt for row, _ in pairs),
        "read": sum(row.account.read for row, _ in pairs),
        "fresh": sum(row.account.fresh for row, _ in pairs),
        "output": sum(row.account.output for row, _ in pairs),
        "reused": sum(row.reused for row, _ in pairs),
        "reusable_ever": sum(row.reusable_ever or 0 for row in know),
        "ceiling_prompt": sum(row.account.prompt for row in know),
        "priced": sum(row.account.prompt > 0 for row, bill in pairs if bill is not None),
        "paid": sum((bill.paid for bill in bills), Decimal(0)) if bills else None,
        "plain": sum((bill.plain for bill in bills), Decimal(0)) if bills else None,
        "rent": sum((bill.rent for bill in bills), Decimal(0)) if bills else None,
    }


def key(row: Row, by: By) -> str:
    if by == "hour":
        return datetime.fromtimestamp(row.time, UTC).strftime("%Y-%m-%dT%H:00Z")
    return str(getattr(row, by))


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.too_slow])
@given(pairs=st.lists(st.tuples(rows(), BILLS), max_size=12), by=st.sampled_from(BYS))
def test_every_grouping_adds_up_as_by_hand(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[Row, Bill | None]], by: By
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger.db"
    with closing(open_for_writing(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for row, bill in pairs:
            assert insert(connection, row, bill)
    wanted: dict[str, list[tuple[Row, Bill | None]]] = defaultdict(list)
    for row, bill in pairs:
        wanted[key(row, by)].append((row, bill))

    found = report(path, by)

    assert [group.name for group in found.groups] == sorted(wanted)
    for group in (*found.groups, found.total):
        mine = wanted[group.name] if group is not found.total else pairs
        hand = naive(mine)
        assert {name: getattr(group, name) for name in hand} == hand
        for lifetime in ("5m", "1h"):
            tokens = sum(row.account.written[lifetime] for row, _ in mine)
            written = group.written.get(lifetime)
            assert (written.tokens if written else 0) == tokens


def test_a_locked_out_reader_says_so(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    open_for_writing(path).close()
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("DELETE FROM requests")
        with pytest.raises(LedgerError, match="locked"):
            report(path)
