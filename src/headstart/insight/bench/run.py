"""The order of things: find the endpoint or start one, probe, warm up, run the plans, collect."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import httpx

from headstart.insight import http
from headstart.insight.bench import catalog
from headstart.insight.bench.client import Abilities, Endpoint
from headstart.insight.bench.launch import Server, serving
from headstart.insight.bench.machine import resident_bytes
from headstart.insight.bench.plan import Lane, Request, Sample, Step, alone, count
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
    """A server we started ourselves; bytes resident."""

    arm: str
    ready_seconds: float
    ready_bytes: int
    ended_bytes: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What one server gave. `failures`: scenario key to message, those have no complete samples."""

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


class Watcher(Protocol):
    """Who looks on while it runs."""

    def say(self, text: str) -> None:
        """Something that takes a while begins."""
        ...

    def expect(self, requests: int) -> None:
        """So many requests are coming."""
        ...

    def done(self, request: Request) -> None:
        """One of them has ended."""
        ...


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
        watcher.say("starting headstart serve --no-prefix-cache")
        async with serving((*arguments, "--no-prefix-cache")) as server:
            only_c = replace(settings, keys=("C",))
            off = await _measure(only_c, server.url, source, watcher, CACHE_OFF)
            facts.append(_facts(CACHE_OFF, server))
        measured = replace(
            measured,
            samples=measured.samples + off.samples,
            failures=off.failures | measured.failures,
        )
    return measured, tuple(facts)


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


def warm_up(source: PromptSource, steps: Sequence[Step]) -> list[Step]:
    """An unseen prompt as long as the plan's longest, and a hit on it: both paths run once."""
    longest = max(len(request.prompt) for step in steps for lane in step for request in lane)
    prompt = source.fresh(longest)
    asked = (prompt, prompt[: longest // 2] + source.fresh(1))
    return [alone(Request("", "warmup", (), 0, p, max_tokens=2)) for p in asked]


class Driver:
    """Sends planned requests to one endpoint."""

    def __init__(
        self, endpoint: Endpoint, abilities: Abilities, arm: str, watcher: Watcher
    ) -> None:
        self._endpoint = endpoint
        self._abilities = abilities
        self._arm = arm
        self._watcher = watcher

    async def steps(self, steps: Sequence[Step]) -> list[Sample]:
        """Step by step, the lanes of a step together. Raises the first lane's EndpointError."""
        samples: list[Sample] = []
        for step in steps:
            try:
                async with asyncio.TaskGroup() as group:
                    lanes = [group.create_task(self._lane(lane)) for lane in step]
            except* EndpointError as errors:
                raise errors.exceptions[0] from None
            samples += [sample for lane in lanes for sample in lane.result()]
        return samples

    async def _lane(self, lane: Lane) -> list[Sample]:
        samples = []
        for request in lane:
            samples.append(await self._endpoint.measure(request, self._abilities, self._arm))
            if request.role != "warmup":
                self._watcher.done(request)
        return samples
