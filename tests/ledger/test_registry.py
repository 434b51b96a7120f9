import socket
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from headstart.ledger.registry import Registry

genai_prices = pytest.importorskip("genai_prices")

MOMENT = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("vendor", "provider", "model"),
    [
        ("anthropic", "anthropic", "claude-opus-5-5"),
        ("anthropic", "anthropic", "claude-sonnet-4-5-20250929"),
        ("openai", "openai", "gpt-6.1-sol"),
        ("openai", "openai", "gpt-4o"),
        ("gemini", "google", "gemini-2.5-pro"),
        ("deepseek", "deepseek", "deepseek-v4-pro"),
    ],
)
@pytest.mark.parametrize("prompt", [1000, 200_000, 200_001, 300_000])
@pytest.mark.parametrize("hour", [2, 12])
def test_rates_are_those_by_which_the_registry_calculates(
    vendor: str, provider: str, model: str, prompt: int, hour: int
) -> None:
    moment = MOMENT.replace(hour=hour)
    read, output = prompt // 4, 500
    usage = genai_prices.Usage(input_tokens=prompt, cache_read_tokens=read, output_tokens=output)
    theirs = genai_prices.calc_price(
        usage, model, provider_id=provider, genai_request_timestamp=moment
    )

    found = Registry().find(vendor, model)

    assert found is not None
    price = found.at(moment)
    assert price is not None
    rates = price.rates(prompt)
    assert rates.read is not None
    ours = (prompt - read) * rates.input + read * rates.read + output * rates.output
    assert ours / 1_000_000 == theirs.total_price


@pytest.mark.parametrize(
    ("vendor", "model", "usage", "written"),
    [
        ("anthropic", "claude-opus-5-5", {"cache_write_tokens": 1_000_000}, "5m"),
        ("openai", "gpt-6.1-sol", {"cache_write_tokens": 100_000}, "30m"),
    ],
)
def test_writes_are_those_by_which_the_registry_calculates(
    vendor: str, model: str, usage: dict[str, int], written: str
) -> None:
    tokens = usage["cache_write_tokens"]
    theirs = genai_prices.calc_price(
        genai_prices.Usage(input_tokens=tokens, **usage),
        model,
        provider_id=vendor,
        genai_request_timestamp=MOMENT,
    )

    found = Registry().find(vendor, model)

    assert found is not None
    price = found.at(MOMENT)
    assert price is not None
    assert price.rates(tokens).written[written] * tokens / 1_000_000 == theirs.total_price


def test_an_hours_write_has_its_own_price() -> None:
    found = Registry().find("anthropic", "claude-opus-5-5")

    assert found is not None
    price = found.at(MOMENT)
    assert price is not None
    assert price.rates(1).written["1h"] == 2 * price.rates(1).input == Decimal(8)


def test_what_the_registry_does_not_know_is_unknown() -> None:
    assert Registry().find("anthropic", "claude-in-2040") is None
    assert Registry().find("openai", "text-embedding-3-small") is None
    assert Registry().find("engine", "gpt-4o") is None


def test_asking_never_opens_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    assert Registry().find("anthropic", "claude-opus-5") is not None
