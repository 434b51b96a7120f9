import csv
import io
import json

from tests.insight.plan.asking import report

from headstart.insight.plan.render import as_csv, as_json
from headstart.insight.plan.text import as_text


def test_json_has_a_version_and_is_the_same_text_each_time() -> None:
    text = as_json(report())
    assert text == as_json(report())
    told = json.loads(text)
    assert told["schema_version"] == 1
    assert told["figures"]["kv_bytes_per_token"]["value"] == 131_072
    assert told["figures"]["resident_prefixes"]["usual"]["value"] == 122
    assert told["tables"]["uses"]["rows"][1]["prefix"] == "1.35"
    assert told["assumptions"]["reserve"] == {"given": False, "value": "8 GB of each"}


def test_every_number_is_measured_derived_or_estimated() -> None:
    told = json.loads(as_json(report(turns=20)))
    kinds = {figure["kind"] for figure in told["figures"].values()} | {
        column["kind"] for table in told["tables"].values() for column in table["columns"].values()
    }
    assert kinds == {"derived", "estimated"}


def test_csv_has_one_number_a_line_and_the_same_numbers() -> None:
    made = report()
    told = json.loads(as_json(made))
    lines = {line["key"]: line for line in csv.DictReader(io.StringIO(as_csv(made)))}
    assert all(
        lines[key]["value"] == ("" if figure["value"] is None else str(figure["value"]))
        for key, figure in told["figures"].items()
    )
    assert lines["uses[1].prefix"]["value"] == "1.35"
    assert lines["resident_prefixes"]["usual"] == "122"


def test_text_says_what_the_usual_formula_says_where_it_differs() -> None:
    text = as_text(report())
    assert "usually 21.0×, (P + Q) / Q" in text
    assert "128 KiB" in text
    assert "estimated" in text
    assert text.count("(default)") == 5
    reusable = text.splitlines().index(
        next(line for line in text.splitlines() if "reusable tokens" in line)
    )
    assert "usually" not in text.splitlines()[reusable + 1]


def test_unknown_and_never_are_words() -> None:
    assert "reads that pay a write            never" in as_text(report(read=1))
    assert json.loads(as_json(report(read=1)))["figures"]["break_even_reads"]["value"] is None
