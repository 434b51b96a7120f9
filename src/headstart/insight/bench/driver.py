"""Sends a plan: steps in order, the lanes of a step at the same time."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from headstart.insight.bench.client import Abilities, Endpoint
from headstart.insight.bench.plan import Lane, Request, Sample, Step, alone
from headstart.insight.bench.prompts import PromptSource
from headstart.insight.wire import EndpointError


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
