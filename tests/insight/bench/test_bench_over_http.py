"""The driver against a real socket."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx
import pytest

from headstart.insight.bench.checks import deviations
from headstart.insight.bench.client import Abilities, Endpoint
from headstart.insight.bench.driver import Driver
from headstart.insight.bench.plan import Request, Sample
from headstart.insight.bench.probe import is_repetition, probe
from headstart.insight.bench.prompts import PromptSource
from headstart.insight.bench.run import Measured, Settings, run
from headstart.insight.wire import EndpointError

T = TypeVar("T")


class Silent:
    """A watcher that only counts."""

    def __init__(self) -> None:
        self.expected = 0
        self.seen = 0

    def say(self, text: str) -> None: ...

    def expect(self, requests: int) -> None:
        self.expected += requests

    def done(self, request: Request) -> None:
        self.seen += 1


def with_endpoint(url: str, use: Callable[[Endpoint], Awaitable[T]]) -> T:
    async def inner() -> T:
        async with httpx.AsyncClient(trust_env=False) as client:
            return await use(Endpoint(client, url, "tiny"))

    return asyncio.run(inner())


def settings(url: str, *keys: str) -> Settings:
    return Settings(url, None, None, keys, repeats=1, quick=True, serve_args=(), seed=11)


def bench(url: str, *keys: str) -> Measured:
    measured, servers = asyncio.run(run(settings(url, *keys), Silent()))
    assert servers == ()
    return measured


def measure(url: str, request: Request, abilities: Abilities = Abilities()) -> Sample:  # noqa: B008
    return with_endpoint(url, lambda endpoint: endpoint.measure(request, abilities, ""))


def test_times_are_those_of_the_tokens_on_the_wire(serve: Any) -> None:
    server = serve(prefill_seconds=0.003, decode_seconds=0.02)
    request = Request("D", "decode", (), 0, PromptSource(1).fresh(100), max_tokens=11)
    got = measure(server.url, request)
    # Sleeping may take longer on a busy machine, never shorter.
    assert 0.3 <= got.ttft < 0.6
    assert got.last - got.ttft >= 10 * 0.02 * 0.9
    assert got.last <= got.total
    assert (got.prompt_tokens, got.completion_tokens, got.cached_tokens) == (100, 11, 0)


def test_a_prompt_is_sent_as_its_ids_greedy_and_streamed_with_usage(serve: Any) -> None:
    server = serve()
    prompt = PromptSource(1).fresh(20)
    measure(server.url, Request("B", "turn", (1,), 0, prompt, max_tokens=3, force=1234))
    assert server.requests == [
        {
            "model": "tiny",
            "prompt": list(prompt),
            "max_tokens": 3,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            "ignore_eos": True,
            "logit_bias": {"1234": 100},
        }
    ]


def test_a_whole_quick_run_finds_every_hit_and_nothing_odd(serve: Any) -> None:
    server, watcher = serve(), Silent()
    measured, _ = asyncio.run(run(settings(server.url, "A", "B", "C", "D", "E"), watcher))
    assert measured.failures == {}
    assert deviations(measured.samples) == []
    assert watcher.seen == watcher.expected == len(measured.samples)
    rows = {scenario.key: scenario.rows(samples) for scenario, samples in measured.complete}
    # Blocks of 16: 1000 tokens are 62 whole blocks, 4000 are 250.
    assert [row.cached_warm for row in rows["A"]] == [(992, 992), (4000, 4000)]
    assert [row.proved for row in rows["A"]] == ["yes", "yes"]
    # Turn k may reuse 1300+40-1+340(k-2) tokens; the rest of a block is computed again.
    lost = [(1339 + 340 * turn) % 16 for turn in range(4)]
    (session,) = rows["B"]
    assert session.recomputed.median == sum(lost)
    assert session.recomputed_per_turn[::2] == (min(lost), max(lost))
    shared, control = rows["C"]
    assert (shared.cached, shared.possible) == (7 * 2000, 7 * 2000)
    assert (control.load, control.cached) == ("nothing shared", 0)
    assert rows["E"][0].cached == (6992, 6992)


def test_lanes_of_a_step_run_at_the_same_time(serve: Any) -> None:
    server = serve(prefill_seconds=0.01)
    source = PromptSource(1)
    lanes = tuple((Request("C", "client", (), 0, source.fresh(20)),) for _ in range(8))

    async def drive(endpoint: Endpoint) -> None:
        await Driver(endpoint, Abilities(), "", Silent()).steps([lanes])

    with_endpoint(server.url, drive)
    assert server.most_running == 8


def test_a_server_with_its_cache_off_is_not_credited_with_hits(serve: Any) -> None:
    measured = bench(serve(caches=False).url, "A")
    (a,) = measured.scenarios
    assert [row.proved for row in a.rows(measured.samples)] == ["NO", "NO"]


@pytest.mark.parametrize(
    ("behaviour", "complaint"),
    [
        ({"miscounts": 1}, "prompt_tokens is not the number sent"),
        ({"lies": 400}, "cached_tokens > 0 for a prompt never seen"),
        ({"lies": 400}, "cached_tokens exceeds what can have been computed before"),
        ({"reports_cached": False}, "cached_tokens is not reported"),
        ({"reports_usage": False}, "no usage in the stream"),
    ],
)
def test_acct_05_numbers_that_cannot_be_true_are_named(
    serve: Any, behaviour: dict[str, Any], complaint: str
) -> None:
    measured = bench(serve(**behaviour).url, "E")
    assert any(complaint in str(deviation) for deviation in deviations(measured.samples))


@pytest.mark.parametrize(
    ("behaviour", "ids", "ignore_eos", "forces"),
    [
        ({}, True, True, True),
        ({"obeys_logit_bias": False}, True, True, False),
        ({"accepts_ignore_eos": False}, True, False, True),
        ({"accepts_ids": False}, False, True, False),
        ({"accepts_ids": False, "accepts_ignore_eos": False}, False, False, False),
    ],
)
def test_the_probe_finds_the_best_form_an_endpoint_accepts(
    serve: Any, behaviour: dict[str, Any], ids: bool, ignore_eos: bool, forces: bool
) -> None:
    found = with_endpoint(serve(**behaviour).url, lambda e: probe(e, PromptSource(1)))
    assert (found.token_ids, found.ignore_eos) == (ids, ignore_eos)
    assert (found.forced_token is not None) is forces


def test_an_endpoint_that_refuses_ids_is_measured_with_as_many_words(serve: Any) -> None:
    server = serve(accepts_ids=False)
    measured = bench(server.url, "E")
    assert deviations(measured.samples) == []
    assert all(isinstance(body["prompt"], str) for body in server.requests[2:])
    assert max(len(body["prompt"].split(" ")) for body in server.requests[2:]) == 7000


def test_one_scenario_that_does_not_fit_leaves_the_others_standing(serve: Any) -> None:
    measured = bench(serve(context=4096).url, "D", "E")
    assert list(measured.failures) == ["E"]
    assert "exceeds the context" in measured.failures["E"]
    assert {sample.scenario for sample in measured.samples} == {"D"}


def test_an_endpoint_that_is_not_there_is_named_with_the_way_out(closed_url: str) -> None:
    with pytest.raises(EndpointError, match=rf"{closed_url}.*headstart serve"):
        bench(closed_url, "E")


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        (" ab" * 4, True),
        ("ab ab ab ab", True),
        (" ab ab ab", False),
        (" ab ab ab ac", False),
        ("    ", False),
        ("\ufffd" * 4, False),
    ],
)
def test_only_a_visible_piece_four_times_over_proves_a_forced_token(
    text: str, repeated: bool
) -> None:
    assert is_repetition(text, 4) is repeated
