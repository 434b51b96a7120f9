import json
from datetime import date
from importlib.metadata import version

import pytest

from headstart.ledger import Rules
from headstart.ledger.registry import Registry
from headstart.ledger.snapshot import PATH, snapshot

pytest.importorskip("genai_prices")


def test_the_packaged_prices_are_what_the_pinned_registry_says() -> None:
    """If this fails after a change of rules.toml or of the pin: run headstart.ledger.snapshot."""
    kept = json.loads(PATH.read_text("utf-8"))

    made = snapshot(Rules.packaged(), Registry(), date.fromisoformat(kept["date"]))

    assert kept == made
    assert version("genai-prices") in kept["source"]
    assert "MIT" in kept["source"]


def test_only_models_that_the_rules_name_are_in_it() -> None:
    rules, kept = Rules.packaged(), json.loads(PATH.read_text("utf-8"))

    for vendor, models in kept["models"].items():
        assert set(models) <= set(rules.names(vendor))
