import csv
import io
import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path

import pytest

from headstart.ledger import Account, Bill, Report, Row, as_csv, as_dict, as_json, report

Write = Callable[[Iterable[tuple[Row, Bill | None]]], Path]


@pytest.fixture
def found(write: Write, row: Callable[..., Row]) -> Report:
    bill = Bill(Decimal("0.0240"), Decimal("0.1025"), Decimal(0), {"5m": Decimal(5) / 18})
    path = write(
        [
            (row(Account(3000, 500, 10, {"5m": 2000}, 5400), model="a,b", reusable_ever=600), bill),
            (row(Account(1000, 0), model="z"), None),
        ]
    )
    return report(path, "model", since=0.0)


def test_json_has_tokens_whole_money_exact_and_unknown_as_null(found: Report) -> None:
    fields = json.loads(as_json(found))

    assert fields == as_dict(found)
    assert (fields["schema_version"], fields["by"]) == (1, "model")
    assert (fields["since"], fields["until"]) == ("1970-01-01T00:00:00+00:00", None)
    first, second = fields["groups"]
    assert first == {
        "name": "a,b",
        "requests": 1,
        "prompt_tokens": 3000,
        "fresh_tokens": 500,
        "read_tokens": 500,
        "written_tokens": 2000,
        "written": {"5m": {"tokens": 2000, "break_even": 0.277778}},
        "output_tokens": 10,
        "storage_token_hours": "1.5",
        "reused_tokens": 500,
        "token_hit_rate": 0.166667,
        "token_hit_rate_ceiling": 0.2,
        "ceiling_prompt_tokens": 3000,
        "priced_requests": 1,
        "paid": "0.024",
        "without_cache": "0.1025",
        "saved": "0.0785",
        "storage": "0",
    }
    assert (second["paid"], second["saved"], second["token_hit_rate_ceiling"]) == (None, None, None)
    assert fields["total"]["prompt_tokens"] == 4000


def test_the_same_ledger_is_the_same_text(found: Report) -> None:
    assert as_json(found) == as_json(found)
    assert list(json.loads(as_json(found))) == sorted(as_dict(found))


def test_csv_has_a_line_for_each_group_and_empty_cells_for_what_is_unknown(found: Report) -> None:
    first, second = csv.DictReader(io.StringIO(as_csv(found)))

    assert (first["name"], first["paid"], first["written_5m"]) == ("a,b", "0.024", "2000")
    assert first["break_even_5m"] == "0.277778"
    assert (second["paid"], second["written_5m"], second["break_even_5m"]) == ("", "0", "")


def test_csv_without_groups_is_one_line_for_all(write: Write, row: Callable[..., Row]) -> None:
    path = write([(row(Account(10, 5)), None)] * 2)

    (line,) = csv.DictReader(io.StringIO(as_csv(report(path))))

    assert (line["requests"], line["prompt_tokens"]) == ("2", "20")
