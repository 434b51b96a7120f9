"""The outcome as tables for people and as JSON for programs."""

from dataclasses import dataclass
from typing import Any

import msgspec

from headstart.insight.bench.checks import Deviation, deviations
from headstart.insight.bench.machine import Machine
from headstart.insight.bench.run import Measured, ServerFacts, Settings
from headstart.insight.bench.scenarios.base import UNKNOWN
from headstart.insight.bench.table import Table

SCHEMA = "headstart-bench/1"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything there is to say about a benchmark."""

    date: str
    """UTC, ISO 8601."""
    settings: Settings
    machine: Machine
    load_before: float
    load_after: float
    measured: Measured
    servers: tuple[ServerFacts, ...]

    @property
    def deviations(self) -> list[Deviation]:
        """What does not add up in the answers."""
        return deviations(self.measured.samples)


def tables(outcome: Outcome) -> list[Table]:
    """The scenarios' tables in order, then start and memory of our own servers."""
    complete = outcome.measured.complete
    found = [table for scenario, samples in complete for table in scenario.tables(samples)]
    return [*found, _servers(outcome.servers)] if outcome.servers else found


def _servers(servers: tuple[ServerFacts, ...]) -> Table:
    rows = tuple(
        (
            server.arm or "cache on",
            f"{server.ready_seconds:.1f}",
            _mebibytes(server.ready_bytes),
            _mebibytes(server.ended_bytes),
        )
        for server in servers
    )
    return Table("Server", ("server", "ready after s", "RSS MiB, ready", "RSS MiB, end"), rows)


def _mebibytes(size: int | None) -> str:
    return UNKNOWN if size is None else f"{size / 2**20:.0f}"


def preamble(outcome: Outcome) -> list[str]:
    """Under what circumstances."""
    measured = outcome.measured
    abilities = measured.abilities
    prompts = "token ids" if abilities.token_ids else "words (the endpoint refuses token ids)"
    return [
        f"{measured.model} at {outcome.settings.url or 'headstart serve'}, prompts as {prompts},"
        f" {outcome.date}, seed {outcome.settings.seed}",
        str(outcome.machine),
        f"load average {outcome.load_before} before, {outcome.load_after} after",
    ]


def remarks(outcome: Outcome) -> list[str]:
    """Failures and contradictions."""
    failed = [f"{key} failed: {why}" for key, why in outcome.measured.failures.items()]
    return failed + [str(deviation) for deviation in outcome.deviations]


def as_json(outcome: Outcome) -> bytes:
    """Facts, numbers per row, and every raw sample; times in seconds. The API key is left out."""
    measured = outcome.measured
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "date": outcome.date,
        "settings": {**msgspec.to_builtins(outcome.settings), "api_key": None},
        "machine": outcome.machine,
        "load_average": {"before": outcome.load_before, "after": outcome.load_after},
        "model": measured.model,
        "abilities": measured.abilities,
        "servers": outcome.servers,
        "scenarios": {
            scenario.key: {"sizes": scenario, "rows": scenario.rows(samples)}
            for scenario, samples in measured.complete
        },
        "failures": measured.failures,
        "deviations": outcome.deviations,
        "samples": measured.samples,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1)
