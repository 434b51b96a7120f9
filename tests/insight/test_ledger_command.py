"""`headstart ledger`, as it is run."""

import csv
import io
import json
import os
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest

from headstart.insight.ledger.table import show
from headstart.ledger import Account, Group, Report, Row, Store

CODE = "from headstart.cli import main; main()"

FIVE_DOLLARS = """
[models.anthropic."claude-opus-4-5"]
input = 5
output = 25
"""
"""1.25 for a write of 5 minutes and 0.1 for a read are rules.toml's."""


def headstart(*args: str | Path, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", CODE, "ledger", *map(str, args)],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        check=False,
    )


def request(account: Account, model: str = "claude-opus-4-5", **fields: object) -> Row:
    given = {"tenant": "acme", "key": "ci", "reason": "", "time": time.time(), **fields}
    return Row(
        request="r",
        model=model,
        contract="anthropic",
        dialect="messages",
        account=account,
        reused=account.read,
        **given,  # type: ignore[arg-type]
    )


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """The first of the project's bills: ten prompts of 2,050 tokens, of which 2,000 are cached."""
    path = tmp_path / "headstart" / "ledger.db"
    store = Store(path)
    store.add(request(Account(2050, 0, written={"5m": 2000}), reason="never seen"))
    for _ in range(9):
        store.add(request(Account(2050, 2000)))
    assert store.flush()
    store.close()
    return path


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(FIVE_DOLLARS)
    return path


def test_the_sources_bill_comes_out_to_the_cent(db: Path, prices: Path) -> None:
    done = headstart("--db", db, "--prices", prices, "--json")

    assert done.returncode == 0, done.stderr
    total = json.loads(done.stdout)["total"]
    assert total["without_cache"] == "0.1025"
    assert total["paid"] == "0.024"
    assert total["saved"] == "0.0785"
    assert total["written"]["5m"]["break_even"] == 0.277778
    assert total["token_hit_rate"] == round(18_000 / 20_500, 6)


def test_the_sources_table_of_uses_comes_out(tmp_path: Path, prices: Path) -> None:
    path = tmp_path / "uses.db"
    store = Store(path)
    for uses in (1, 2, 3, 4, 20):
        model = f"claude-opus-4-5-{uses:08}"
        store.add(request(Account(100_000, 0, written={"5m": 100_000}), model=model))
        for _ in range(uses - 1):
            store.add(request(Account(100_000, 100_000), model=model))
    assert store.flush()
    store.close()

    done = headstart("--db", path, "--prices", prices, "--by", "model", "--json")

    shares = [
        round(100 * float(group["saved"]) / float(group["without_cache"]), 2)
        for group in json.loads(done.stdout)["groups"]
    ]
    assert shares == [-25.0, 32.5, 51.67, 61.25, 84.25]


def test_the_table_shows_tokens_rates_and_money(db: Path, prices: Path) -> None:
    done = headstart("--db", db, "--prices", prices, "--by", "reason")

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"10 requests, from {db}"
    cells = {line.split("│")[1].strip(): line for line in lines if "│" in line}
    assert {"–", "never seen", "all"} == set(cells)
    for cell in ("20,500", "18,000", "2,000", "87.8%", "$0.0240", "$0.1025", "$0.0785"):
        assert cell in cells["all"]
    assert "-$0.0025" in cells["never seen"]
    assert "pays once it is read 0.28 times" in done.stdout


def test_what_rounds_to_nothing_has_no_sign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A millionth of a dollar of rent, of which nothing was saved."""
    rent = Decimal("0.000001")
    group = Group("", 0, 0, 0, {}, 0, 3600, 0, 0, 0, 0, rent, Decimal(0), rent)

    show(Report(None, None, None, [], group), tmp_path)

    told = capsys.readouterr().out
    assert "$0.0000" in told
    assert "-" not in told.replace(str(tmp_path), "")


def test_without_a_price_money_is_unknown(db: Path) -> None:
    done = headstart("--db", db)

    assert done.stdout.count("unknown") == 4
    assert "$" not in done.stdout


def test_csv_and_since(db: Path) -> None:
    store = Store(db)
    store.add(request(Account(100, 0), model="old", time=time.time() - 7200))
    assert store.flush()
    store.close()

    done = headstart("--db", db, "--by", "model", "--since", "1h", "--csv")

    (line,) = csv.DictReader(io.StringIO(done.stdout))
    assert (line["name"], line["requests"]) == ("claude-opus-4-5", "10")


def test_the_ledger_of_the_user_is_the_default(db: Path) -> None:
    done = headstart("--json", XDG_STATE_HOME=str(db.parent.parent))

    assert json.loads(done.stdout)["total"]["requests"] == 10


def test_names_of_clients_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    store = Store(tmp_path / "ledger.db")
    store.add(request(Account(10, 0), model="[red]x\x1b[2Jy[/red]"))
    assert store.flush()
    store.close()

    done = headstart("--db", tmp_path / "ledger.db", "--by", "model")

    assert "\x1b" not in done.stdout
    assert r"'[red]x\x1b[2Jy[/red]'" in done.stdout


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("--db", "absent.db"), "There is no ledger at absent.db."),
        (("--db", "notes.txt"), "notes.txt is no ledger of headstart"),
        (("--db", "headstart/ledger.db", "--since", "yesterday"), "'yesterday' is no time"),
        (("--db", "headstart/ledger.db", "--prices", "notes.txt"), "notes.txt: "),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_status_2(
    db: Path, tmp_path: Path, args: tuple[str, ...], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("not a ledger\n" * 100)

    done = headstart(*args)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(problem)
    assert done.stderr.count("\n") == 1
