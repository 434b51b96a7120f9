import csv
import io
import json

import pytest
from tests.insight.probe.oracle import Oracle
from tests.insight.probe.test_steps import report

from headstart.insight.probe.render import as_csv, as_json, as_text


def test_every_number_says_how_it_is_known() -> None:
    told = json.loads(as_json(report(Oracle())))
    assert told["schema_version"] == 1
    assert told["verdict"]["name"] == "proved"
    kinds = {key: figure["kind"] for key, figure in told["figures"].items()}
    assert set(kinds.values()) <= {"measured", "derived", "estimated"}
    assert kinds["cached_tokens"] == "measured"
    assert kinds["hit_rate"] == "derived"


def test_the_hit_rate_is_by_token() -> None:
    figures = json.loads(as_json(report(Oracle())))["figures"]
    # 412 words; all but the last can be read again.
    assert figures["input_tokens"]["value"] == 5 * 412
    assert figures["cached_tokens"]["value"] == 5 * 411
    assert figures["hit_rate"]["value"] == pytest.approx(411 / 412)


def test_the_same_measurements_are_the_same_text() -> None:
    assert as_json(report(Oracle())) == as_json(report(Oracle()))
    keys = list(json.loads(as_json(report(Oracle()))))
    assert keys == sorted(keys)


def test_what_was_not_counted_is_null_and_not_zero() -> None:
    told = json.loads(as_json(report(Oracle(counts=False))))
    assert told["figures"]["hit_rate"]["value"] is None
    assert told["samples"][0]["cached_tokens"] is None


def test_an_interval_without_end_is_null() -> None:
    told = json.loads(as_json(report(Oracle(), samples=3)))
    assert told["figures"]["third_to_unseen"]["interval"] == [0.0, None]


def test_csv_has_the_verdict_and_a_number_a_line() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(report(Oracle())))))
    assert (rows[0]["key"], rows[0]["value"]) == ("verdict", "proved")
    assert {row["kind"] for row in rows} == {"measured", "derived"}
    (hits,) = [row for row in rows if row["key"] == "hits"]
    assert hits["value"] == "5"


def test_the_text_begins_with_the_verdict_and_what_it_leaves_open() -> None:
    lines = as_text(report(Oracle(counts=False))).splitlines()
    assert lines[0] == "verdict: timed"
    assert "Time alone can't prove a prefix cache" in " ".join(lines)
    assert all(len(line) <= 110 for line in lines)
