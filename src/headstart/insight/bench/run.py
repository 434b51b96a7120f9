"""The order of things: find the endpoint or start one, probe, warm up, run the plans, collect."""

from dataclasses import dataclass, replace

import httpx

from headstart.insight import http
from headstart.insight.bench import catalog
from headstart.insight.bench.client import Abilities, Endpoint
from headstart.insight.bench.driver import Driver, Watcher, warm_up
from headstart.insight.bench.launch import Server, serving
from headstart.insight.bench.machine import resident_bytes
from headstart.insight.bench.plan import Sample, count
from headstart.insight.bench.probe import probe
from headstart.insight.bench.prompts import PromptSource
from headstart.insight.bench.scenarios.base import Scenario
from headstart.insight.wire import EndpointError

CACHE_OFF = "cache off"
CONNECTIONS = httpx.Limits(max_connections=64, max_keepalive_connections=64)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line asks for."""

    url: str | None
    """None: start a server of our own."""
    model: str | None
    api_key: str | None
    keys: tuple[str, ...]
    repeats: int | None
    quick: bool
    serve_args: tuple[str, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """A server we started ourselves; bytes resident (None: unknown, the process is gone)."""

    arm: str
    ready_seconds: float
    ready_bytes: int | None
    ended_bytes: int | None


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found. `failures`: scenario key to message, those have no complete samples."""

    model: str
    abilities: Abilities
    scenarios: tuple[Scenario, ...]
    samples: tuple[Sample, ...]
    failures: dict[str, str]

    @property
    def complete(self) -> list[tuple[Scenario, list[Sample]]]:
        """The scenarios that did not fail, each with its samples."""
        return [
            (scenario, [s for s in self.samples if s.scenario == scenario.key])
            for scenario in self.scenarios
            if scenario.key not in self.failures
        ]


async def run(settings: Settings, watcher: Watcher) -> tuple[Measured, tuple[ServerFacts, ...]]:
    """The whole benchmark. Raises EndpointError if nothing can be measured at all."""
    source = PromptSource(settings.seed)
    if settings.url is not None:
        return await _measure(settings, settings.url, source, watcher), ()
    watcher.say("starting headstart serve")
    arguments = (*(("--model", settings.model) if settings.model else ()), *settings.serve_args)
    async with serving(arguments) as server:
        measured = await _measure(settings, server.url, source, watcher)
        facts = [_facts("", server)]
    if "C" in settings.keys:
        off, off_facts = await _cache_off(settings, arguments, source, watcher)
        facts += off_facts
        measured = replace(
            measured,
            samples=measured.samples + off.samples,
            failures=measured.failures
            | {f"{key}, {CACHE_OFF}": why for key, why in off.failures.items()},
        )
    return measured, tuple(facts)


async def _cache_off(
    settings: Settings, arguments: tuple[str, ...], source: PromptSource, watcher: Watcher
) -> tuple[Measured, list[ServerFacts]]:
    """Scenario C against a second server. It must not cost us what the first one gave."""
    watcher.say("starting headstart serve --no-prefix-cache")
    only_c = replace(settings, keys=("C",))
    try:
        async with serving((*arguments, "--no-prefix-cache")) as server:
            measured = await _measure(only_c, server.url, source, watcher, CACHE_OFF)
            return measured, [_facts(CACHE_OFF, server)]
    except EndpointError as error:
        return Measured("", Abilities(), (), (), {"C": str(error)}), []


def _facts(arm: str, server: Server) -> ServerFacts:
    return ServerFacts(arm, server.ready_seconds, server.ready_bytes, resident_bytes(server.pid))


async def _measure(
    settings: Settings, url: str, source: PromptSource, watcher: Watcher, arm: str = ""
) -> Measured:
    async with httpx.AsyncClient(
        headers=http.headers(settings.api_key),
        timeout=http.timeout(),
        limits=CONNECTIONS,
        trust_env=http.is_remote(url),
    ) as client:
        endpoint = Endpoint(client, url)
        asked = settings.model if settings.url is not None else None
        endpoint.model = asked or await endpoint.first_model()
        abilities = await probe(endpoint, source)
        chosen = catalog.scenarios(
            catalog.Choice(
                keys=settings.keys,
                model=endpoint.model,
                quick=settings.quick,
                repeats=settings.repeats,
                force=abilities.forced_token,
                # Our own server is compared with one whose cache is off instead.
                unshared_control=settings.url is not None,
            )
        )
        plans = [(scenario, scenario.plan(source)) for scenario in chosen]
        watcher.expect(sum(count(steps) for _, steps in plans))
        driver = Driver(endpoint, abilities, arm, watcher)
        samples: list[Sample] = []
        failures: dict[str, str] = {}
        for scenario, steps in plans:
            try:
                watcher.say(f"{scenario.key}: warming up")
                await driver.steps(warm_up(source, steps))
                samples += await driver.steps(steps)
            except EndpointError as error:
                failures[scenario.key] = str(error)
        return Measured(endpoint.model, abilities, tuple(chosen), tuple(samples), failures)
