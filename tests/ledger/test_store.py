import logging
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from headstart.ledger import Account, Bill, LedgerError, Row, Store
from headstart.ledger.encode import UPDATE
from headstart.ledger.schema import open_for_reading, open_for_writing

MakeRow = Callable[..., Row]
Open = Callable[..., Store]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def store(path: Path) -> Iterator[Open]:
    opened: list[Store] = []

    def open_(**options: object) -> Store:
        opened.append(Store(path, **{"interval": 0.02, **options}))  # type: ignore[arg-type]
        return opened[-1]

    yield open_
    for each in opened:
        each.close()


def names(path: Path) -> list[str]:
    with closing(open_for_reading(path)) as connection:
        return [name for (name,) in connection.execute("SELECT request FROM requests ORDER BY id")]


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_row_is_kept_whole(path: Path, store: Open, row: MakeRow) -> None:
    bill = Bill(Decimal("0.0125"), Decimal("0.01"), Decimal(0), {"5m": Decimal("0.25")})
    account = Account(2050, 50, 7, {"5m": 1000, "1h": 500}, 3600, warms=True)
    ours = store(bill=lambda row: bill)

    ours.add(row(account, reason="never seen", ttft=0.25, reusable_ever=60, reused=55))

    assert ours.flush()
    with closing(open_for_reading(path)) as connection:
        connection.row_factory = sqlite3.Row
        (kept,) = map(dict, connection.execute("SELECT * FROM requests"))
    assert kept == {
        "id": 1,
        "time": 1_000_000.0,
        "request": "r",
        "tenant": "t",
        "key": "k",
        "model": "m",
        "contract": "anthropic",
        "dialect": "messages",
        "prompt": 2050,
        "read": 50,
        "written": 1500,
        "writes": '{"5m": [1000, 0.25], "1h": [500, null]}',
        "output": 7,
        "token_seconds": 3600,
        "warms": 1,
        "reused": 55,
        "reusable_ever": 60,
        "paid": 12_500_000_000,
        "plain": 10_000_000_000,
        "rent": 0,
        "ttft": 0.25,
        "reason": "never seen",
    }


def test_an_unknown_price_is_null_and_never_0(path: Path, store: Open, row: MakeRow) -> None:
    ours = store()
    ours.add(row())
    assert ours.flush()

    with closing(open_for_reading(path)) as connection:
        money = connection.execute("SELECT paid, plain, rent, reusable_ever FROM requests")
        assert money.fetchall() == [(None, None, None, None)]


def test_rows_of_many_threads_are_all_kept_once(path: Path, store: Open, row: MakeRow) -> None:
    ours = store()

    def add(thread: int) -> None:
        for number in range(200):
            ours.add(row(request=f"{thread}-{number}"))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert ours.flush(10)
    assert sorted(names(path)) == sorted(f"{t}-{n}" for t in range(4) for n in range(200))
    assert ours.counts.kept == 800


def test_closing_keeps_what_waits(path: Path, store: Open, row: MakeRow) -> None:
    ours = store(interval=60)
    for number in range(3000):
        ours.add(row(request=str(number)))

    ours.close()

    assert names(path) == [str(number) for number in range(3000)]
    ours.add(row())
    assert ours.counts.lost == 1


def test_a_full_queue_drops_and_counts_and_does_not_wait(store: Open, row: MakeRow) -> None:
    held = threading.Event()
    ours = store(bill=lambda row: held.wait() and None, most_waiting=10)

    begin = time.monotonic()
    for _ in range(25):
        ours.add(row())

    assert time.monotonic() - begin < 1
    assert (ours.counts.waiting, ours.counts.lost) == (10, 15)
    held.set()
    assert ours.flush()
    assert (ours.counts.kept, ours.counts.lost) == (10, 15)


def test_a_locked_file_makes_rows_wait_and_is_logged_once(
    path: Path,
    store: Open,
    row: MakeRow,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("headstart.ledger.schema.BUSY_SECONDS", 0.01)
    caplog.set_level(logging.INFO, "headstart.ledger.store")
    with closing(open_for_writing(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        ours = store()
        ours.add(row(request="first"))
        wait_until(lambda: ours.counts.failures >= 3)
        ours.add(row(request="second"))
        assert (ours.counts.kept, ours.counts.waiting) == (0, 2)
        other.execute("ROLLBACK")

    assert ours.flush(10)
    assert names(path) == ["first", "second"]
    assert ours.counts.lost == 0
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert "locked" in caplog.text


def test_a_file_locked_to_the_end_loses_what_waits_and_counts_it(
    path: Path, store: Open, row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headstart.ledger.schema.BUSY_SECONDS", 0.01)
    with closing(open_for_writing(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        ours = store()
        ours.add(row())
        ours.close()

    assert (ours.counts.kept, ours.counts.waiting, ours.counts.lost) == (0, 0, 1)


def test_a_row_that_sqlite_never_takes_does_not_hold_up_the_others(
    path: Path, store: Open, row: MakeRow
) -> None:
    ours = store()
    ours.add(row(request="good"))
    ours.add(row(Account(1 << 70, 0)))
    ours.add(row(request="lone \ud800 surrogate"))

    assert ours.flush()
    assert names(path) == ["good", "lone ? surrogate"]
    assert (ours.counts.kept, ours.counts.lost, ours.counts.failures) == (2, 1, 0)


def test_a_tariff_that_fails_leaves_the_price_unknown(
    path: Path, store: Open, row: MakeRow
) -> None:
    def fail(row: Row) -> Bill | None:
        raise RuntimeError("the registry has changed")

    ours = store(bill=fail)
    ours.add(row())

    assert ours.flush()
    with closing(open_for_reading(path)) as connection:
        assert connection.execute("SELECT paid FROM requests").fetchall() == [(None,)]


def test_a_foreign_file_is_refused_before_anything_is_served(path: Path, store: Open) -> None:
    path.write_text("not a ledger" * 100)

    with pytest.raises(LedgerError, match="no ledger of headstart"):
        store()


def test_a_folder_that_cannot_be_made_does_not_stop_serving(tmp_path: Path, row: MakeRow) -> None:
    (tmp_path / "file").touch()
    ours = Store(tmp_path / "file" / "ledger.db", interval=0.02)

    ours.add(row())

    wait_until(lambda: ours.counts.failures >= 2)
    ours.close()
    assert ours.counts.lost == 1


def test_two_servers_may_share_a_ledger(path: Path, store: Open, row: MakeRow) -> None:
    first, second = store(), store()
    for number in range(50):
        first.add(row(request=f"a{number}"))
        second.add(row(request=f"b{number}"))

    assert first.flush(10)
    assert second.flush(10)
    assert len(names(path)) == 100


def stored(path: Path) -> list[tuple[str, float, int]]:
    with closing(open_for_reading(path)) as connection:
        rows = connection.execute("SELECT request, time, token_seconds FROM requests ORDER BY id")
        return rows.fetchall()


def test_what_is_stored_is_one_row_that_grows(path: Path, store: Open, row: MakeRow) -> None:
    rent = Decimal("0.001")
    ours = store(bill=lambda row: Bill(rent * row.account.token_seconds, Decimal(0), rent, {}))
    ours.add(row(request="held"))  # Its creation has the same id, and is a row of its own.
    for seconds in (10, 20, 30):
        ours.put([row(Account(0, 0, token_seconds=seconds), request="held")])
        assert ours.flush()
    ours.put([row(Account(0, 0, token_seconds=5), request="held", time=1_000_800.0)])
    ours.put([row(Account(0, 0, token_seconds=7), request="other")])
    assert ours.flush()

    assert stored(path) == [
        ("held", 1_000_000.0, 0),
        ("held", 1_000_000.0, 30),
        ("held", 1_000_800.0, 5),
        ("other", 1_000_000.0, 7),
    ]
    with closing(open_for_reading(path)) as connection:
        paid = connection.execute("SELECT paid FROM requests WHERE token_seconds = 30").fetchall()
    assert paid == [(30_000_000_000,)]
    assert (ours.counts.kept, ours.counts.lost) == (4, 0)


def test_what_is_stored_never_fills_the_queue(
    path: Path, store: Open, row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headstart.ledger.schema.BUSY_SECONDS", 0.01)
    with closing(open_for_writing(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        ours = store(most_waiting=2)
        for seconds in range(1, 50):
            ours.put([row(Account(0, 0, token_seconds=seconds))])
        ours.add(row(request="asked"))
        assert (ours.counts.waiting, ours.counts.lost) == (2, 0)
        other.execute("ROLLBACK")

    assert ours.flush(10)
    assert {(name, seconds) for name, _, seconds in stored(path)} == {("r", 49), ("asked", 0)}


def test_what_is_stored_is_kept_again_after_its_row_was_thinned_out(
    path: Path, store: Open, row: MakeRow
) -> None:
    ours = store()
    ours.put([row(Account(0, 0, token_seconds=1))])
    assert ours.flush()
    with closing(open_for_writing(path)) as other:
        other.execute("DELETE FROM requests")
        other.execute("DROP INDEX storage")  # As in a ledger that is older than the index.
    ours.close()

    again = store()
    again.put([row(Account(0, 0, token_seconds=2))])
    again.close()
    assert stored(path) == [("r", 1_000_000.0, 2)]
    again.put([row(Account(0, 0, token_seconds=3))])
    assert again.counts.lost == 1


def test_the_row_of_what_is_stored_is_found_without_reading_the_ledger(path: Path) -> None:
    with closing(open_for_writing(path)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {UPDATE}", (0, 0, 0, 0, "", 0)).fetchall()
    assert "USING INDEX storage (request=? AND time=?)" in plan[0][-1]


WRITER = """
import sys, time
from pathlib import Path
from headstart.ledger import Account, Row, Store

store = Store(Path(sys.argv[1]))
number = 0
while True:
    account = Account(2050, 0, 1, {"5m": 2000})
    store.add(Row(0.0, str(number), "t", "k", "m", "anthropic", "messages", account, 0))
    print(number, time.monotonic(), flush=True)
    number += 1
    time.sleep(0.002)
"""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1.6, 2.2])
def test_kill_9_loses_at_most_the_last_second_and_corrupts_nothing(
    path: Path, seconds: float
) -> None:
    code = [sys.executable, "-c", textwrap.dedent(WRITER), str(path)]
    with subprocess.Popen(code, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        added = [process.stdout.readline()]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            added.append(process.stdout.readline())
        killed = time.monotonic()
        os.kill(process.pid, signal.SIGKILL)
        added += process.stdout.readlines()

    old = [line for line in added if len(line.split()) == 2 and float(line.split()[1]) < killed - 1]
    kept = names(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert len(old) > 50
    assert len(kept) >= len(old)
    assert kept == [str(number) for number in range(len(kept))]


FULL = """
import resource, sys, time
from pathlib import Path
from headstart.ledger import Account, Row, Store

_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, hard))
store = Store(Path(sys.argv[1]), interval=0.01)
for number in range(2000):
    store.add(Row(0.0, str(number), "t", "k", "m", "engine", "chat", Account(10, 0), 0))
end = time.monotonic() + 10
while store.counts.failures < 2:
    assert time.monotonic() < end, store.counts
    time.sleep(0.01)
full = store.counts
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
assert store.flush(10), store.counts
store.close()
print(full.lost, full.waiting > 0, store.counts.kept, store.counts.lost)
"""


def test_a_full_disk_makes_rows_wait_until_there_is_room(path: Path) -> None:
    code = [sys.executable, "-c", textwrap.dedent(FULL), str(path)]

    done = subprocess.run(code, capture_output=True, text=True, check=False)

    assert done.stdout.split() == ["0", "True", "2000", "0"], done.stderr
    assert done.stderr.count("takes no rows") == 1
    assert names(path) == [str(number) for number in range(2000)]
