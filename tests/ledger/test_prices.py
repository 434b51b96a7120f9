import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from headstart.ledger import PriceBook, Prices
from headstart.ledger.registry import Registry

MOMENT = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Counting:
    def __init__(self, known: dict[str, Prices]) -> None:
        self.known = known
        self.asked: list[str] = []

    def find(self, vendor: str, model: str) -> Prices | None:
        self.asked.append(model)
        return self.known.get(model)


def test_the_first_source_that_knows_a_model_speaks_and_is_asked_once() -> None:
    first, second = Counting({"a": Prices([], "1")}), Counting({"b": Prices([], "2")})
    book = PriceBook([first, second])

    found = [book.find("v", model) for model in "abcabc"]

    assert [each and each.source for each in found] == ["1", "2", None] * 2
    assert first.asked == ["a", "b", "c"]
    assert second.asked == ["b", "c"]


def test_names_without_end_take_no_memory_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headstart.ledger.prices.MOST_MODELS", 2)
    source = Counting({})
    book = PriceBook([source])

    for model in "abca":
        book.find("v", model)

    assert source.asked == ["a", "b", "c", "a"]


def test_the_operators_file_stands_above_what_is_published(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text("[models.anthropic.claude-opus-5]\ninput = 1\noutput = 2\n")
    book = PriceBook.standard(path)

    own, published = (book.find("anthropic", f"claude-opus-{each}") for each in ("5", "4-5"))

    assert own is not None
    assert published is not None
    assert own.source == str(path)
    assert published.source.startswith("genai-prices")


def test_without_the_extra_the_snapshot_speaks_and_tells_its_day(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("genai_prices", "genai_prices.data_snapshot", "genai_prices.types"):
        monkeypatch.setitem(sys.modules, name, None)
    assert Registry().find("anthropic", "claude-opus-5") is None

    book = PriceBook.standard()

    found = book.find("anthropic", "claude-opus-5")
    assert found is not None
    assert found.source.endswith(", 2026-11-30")
    price = book.at("anthropic", "claude-opus-5", MOMENT)
    assert price is not None
    assert price.rates(1).input == Decimal(5)
    assert book.at("anthropic", "claude-in-2040", MOMENT) is None


def test_importing_the_ledger_loads_neither_the_registry_nor_an_http_client() -> None:
    code = (
        "import sys, headstart.ledger, headstart.cli;"
        "print([name for name in ('genai_prices', 'httpx', 'httpx2', 'pydantic')"
        " if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
