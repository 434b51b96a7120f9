"""Anthropic's wire through its own SDK: the other checks of reference/dialects.md, section 8."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from inspect import signature
from typing import Any, Literal

import anthropic
import pytest
from anthropic.types import Message
from tests.conformance.anthropic_side import (
    ALIASES,
    NEW,
    OLD,
    OPUS,
    Side,
    by_lifetime,
    counts,
    message_of,
    prose,
    read,
    said,
    text,
    text_of,
    tool,
    user,
    written,
)
from tests.conformance.conftest import Serve, Served
from tests.conformance.served import touched

from headstart.engine.api import Chunk, Engine, GenerateRequest, Generation, Reuse


@pytest.fixture(scope="module")
def served(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """Two tenants, a ledger and its prices."""
    folder = tmp_path_factory.mktemp("anthropic")
    (folder / "keys").write_text("ka alice\nkb bob\n")
    (folder / "prices.toml").write_text(f"[models.anthropic.{OPUS}]\ninput = 5\noutput = 25\n")
    return serve(
        aliases=ALIASES,
        api_key="op",
        api_keys_file=str(folder / "keys"),
        ledger=str(folder / "ledger.db"),
        prices=str(folder / "prices.toml"),
    )


@pytest.fixture
def side(served: Served) -> Side:
    return Side(served, "ka")


def test_check_01_a_plain_call_parses_strictly(side: Side) -> None:
    answer = side.client.messages.create(model=OPUS, max_tokens=3, messages=said(["Hello."]))
    assert answer.model == OPUS
    assert answer.stop_reason in ("end_turn", "max_tokens")
    assert all(block.type == "text" for block in answer.content)


def test_check_02_the_deltas_add_up_to_the_whole_answer(side: Side) -> None:
    asked: Any = {
        "model": OPUS,
        "max_tokens": 16,
        "messages": said(["Hello."]),
        "extra_headers": {"anthropic-version": OLD},
        "extra_body": {"temperature": 0},
    }
    whole = side.client.messages.create(**asked)
    deltas = ""
    with side.client.messages.stream(**asked) as stream:
        for event in stream:
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                deltas += event.delta.text
        final = stream.get_final_message()
    assert deltas == text_of(final) == text_of(whole)


def test_check_03_each_client_gets_its_own_list_of_models(side: Side) -> None:
    theirs = side.client.models.list()
    ours = side.served.live.client("ka").models.list()
    assert [each.id for each in theirs.data] == [each.id for each in ours.data]
    assert {each.type for each in theirs.data} == {"model"}
    assert {each.object for each in ours.data} == {"model"}
    with side.served.live.http(headers={"x-api-key": "ka"}) as http:
        assert http.get("/v1/models").json()["object"] == "list"


@pytest.mark.parametrize("beta", ["", "?beta=true"])
def test_check_04_old_and_new_clients_authenticate_and_have_their_versions(
    side: Side, beta: str
) -> None:
    """Client 0.125 sends `X-Api-Key` and the old version, and for betas another URL."""
    body = {"model": OPUS, "max_tokens": 1, "messages": said(["Hello."])}
    new = {"authorization": "Bearer ka", "anthropic-version": NEW}
    old = {"x-api-key": "ka", "anthropic-version": OLD}
    with side.served.live.http() as http:
        for headers, status in ((new, 400), (old, 200)):
            plain = http.post(f"/v1/messages{beta}", json=body, headers=headers)
            drawn = http.post(
                f"/v1/messages{beta}", json=body | {"temperature": 0.5}, headers=headers
            )
            assert (plain.status_code, drawn.status_code) == (200, status)
        refused = http.post("/v1/messages", json=body, headers=new | {"authorization": "Bearer x"})
        assert refused.status_code == 401


def test_check_04_this_client_gets_the_version_that_it_sends(side: Side) -> None:
    def drawn() -> Message:
        warm = {"temperature": 1}
        return side.client.messages.create(
            model=OPUS, max_tokens=1, messages=said(["Hi."]), extra_body=warm
        )

    if side.client.default_headers["anthropic-version"] == OLD:
        assert drawn().usage.output_tokens == 1
    else:
        with pytest.raises(anthropic.BadRequestError) as caught:
            drawn()
        assert message_of(caught.value) == "temperature: Extra inputs are not permitted"


BODIES: list[dict[str, Any]] = [
    {"messages": ["Plain."]},
    {"messages": ["Marked."], "system": [text(prose("c09a"), mark=True)]},
    {"messages": ["Marked again."], "system": [text(prose("c09a"), mark=True)]},
    {
        "messages": [user(text(prose("c09c"), "5m"))],
        "tools": [tool("f", prose("c09b"), "1h"), tool("g")],
        "tool_choice": {"type": "auto"},
        "thinking": {"type": "adaptive"},
    },
    {
        "messages": [
            prose("c09d"),
            {"role": "assistant", "content": [
                {"type": "text", "text": "I call."},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": "é"}},
            ]},
            user({"type": "tool_result", "tool_use_id": "t1", "content": [text("done")]}),
            {"role": "system", "content": "Be kind."},
        ],
        "tools": [tool("f")],
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
    },
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_check_09_and_64_counting_says_what_is_billed_and_touches_nothing(
    side: Side, body: dict[str, Any]
) -> None:
    fields = dict(body)
    messages = fields.pop("messages")
    engine = side.served.live.engine
    before = touched(engine)
    for _ in range(2):
        counted = side.client.messages.count_tokens(
            model=OPUS, messages=said(messages), **fields
        ).input_tokens
    assert touched(engine) == before
    usage = side.usage(*messages, **fields)
    assert sum(counts(usage)) == counted
    assert sum(by_lifetime(usage)) == written(usage)


def test_check_64_counting_neither_writes_nor_refreshes_and_checks_markers(side: Side) -> None:
    system: Any = [text(prose("c64"), mark=True)]
    count = side.client.messages.count_tokens
    count(model=OPUS, messages=said(["?"]), system=system)
    first = side.usage("?", system=system)
    assert written(first) > 0
    side.clock.advance(200)
    count(model=OPUS, messages=said(["?"]), system=system)
    side.clock.advance(200)
    assert read(side.usage("?", system=system)) == 0
    five: Any = [text(str(number), mark=True) for number in range(5)]
    with pytest.raises(anthropic.BadRequestError) as caught:
        count(model=OPUS, messages=said(["?"]), system=five)
    assert "Found 5." in message_of(caught.value)


def test_check_33_workspaces_and_organizations_share_nothing(served: Served) -> None:
    system = [text(prose("c33"), mark=True)]
    sides = [Side(served, "ka"), Side(served, "ka", "wrkspc_1"), Side(served, "kb")]
    wrote = [written(each.usage("?", system=system)) for each in sides]
    assert wrote[0] == wrote[1] == wrote[2] > 0
    assert [read(each.usage("?", system=system)) for each in sides] == wrote


class Held:
    """Holds every answer back until `open` is set; the rest of the engine is the real one."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.open = True
        self.submitted = 0

    def submit(self, request: GenerateRequest) -> Generation:
        self.submitted += 1
        return HeldGeneration(self, self.engine.submit(request))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


class HeldGeneration:
    def __init__(self, held: Held, inner: Generation) -> None:
        self.held = held
        self.inner = inner

    @property
    def reuse(self) -> Reuse:
        return self.inner.reuse

    @property
    def completion_tokens(self) -> int:
        return self.inner.completion_tokens

    async def __aiter__(self) -> AsyncIterator[Chunk]:
        while not self.held.open:
            await asyncio.sleep(0.001)
        async for chunk in self.inner:
            yield chunk

    async def aclose(self) -> None:
        await self.inner.aclose()


def test_check_36_an_entry_can_be_read_once_its_writers_answer_has_begun(
    serve: Serve, eventually: Any
) -> None:
    held: list[Held] = []

    def hold(engine: Engine) -> Held:
        held.append(Held(engine))
        return held[-1]

    side = Side(serve(hold, aliases=ALIASES))
    (gate,) = held
    system = [text(prose("c36"), mark=True)]
    gate.open = False
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(side.usage, "?", system=system) for _ in range(4)]
        eventually(lambda: gate.submitted == 4)
        gate.open = True
    for answer in answers:
        assert (read(answer.result()), written(answer.result()) > 0) == (0, True)
    other = [text(prose("c36b"), mark=True)]
    with side.client.messages.stream(
        model=OPUS, max_tokens=400, messages=said(["?"]), system=other
    ) as stream:
        next(iter(stream))
        assert read(side.usage("!", system=other)) > 0


def test_check_52_no_tokens_warm_the_cache(side: Side) -> None:
    system = [text(prose("c52"), mark=True)]
    answer = side.ask("?", system=system, max_tokens=0)
    assert (answer.content, answer.stop_reason) == ([], "max_tokens")
    assert answer.usage.output_tokens == 0
    assert written(answer.usage) > 0
    again = side.ask("?", system=system, max_tokens=0)
    assert read(again.usage) == written(answer.usage)
    assert read(side.usage("What?", system=system)) == written(answer.usage)
    schema = {"type": "json_schema", "schema": {"type": "object"}}
    for fields in (
        {"extra_body": {"stream": True}},
        {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        {"output_config": {"format": schema}},
        {"tools": [tool("f")], "tool_choice": {"type": "any"}},
        {"tools": [tool("f")], "tool_choice": {"type": "tool", "name": "f"}},
    ):
        with pytest.raises(anthropic.BadRequestError):
            side.client.messages.create(
                model=OPUS,
                max_tokens=0,
                messages=said(["?"]),
                **fields,  # type: ignore[arg-type]
            )


@pytest.mark.parametrize("beta", [False, True])
def test_check_53_a_diagnosis_names_what_changed(side: Side, beta: bool) -> None:
    base: Any = {
        "tools": [tool("f", prose("c53t", 20))],
        "system": [text(prose("c53s", 20), mark=True)],
        "messages": ["One.", {"role": "assistant", "content": "Yes."}, "Two."],
    }

    if not beta and "diagnostics" not in signature(side.client.messages.create).parameters:
        pytest.skip("this version of the SDK has diagnostics under beta alone")

    def told(previous: str | None, own: Side = side, **changes: Any) -> tuple[str, Any]:
        fields = {"model": OPUS, "max_tokens": 1} | base | changes
        fields |= {"messages": said(fields["messages"])}
        fields |= {"diagnostics": {"previous_message_id": previous}}
        client = own.client.beta if beta else own.client
        answer = client.messages.create(**fields)
        return answer.id, answer.diagnostics

    first, nothing = told(None)
    assert nothing is None
    grown = [*base["messages"], {"role": "assistant", "content": "So."}, "Three."]
    assert told(first, messages=grown)[1] is None
    for changes, kind in (
        ({"system": [text(prose("c53x", 20), mark=True)]}, "system_changed"),
        ({"tools": [tool("f", "Another.")]}, "tools_changed"),
        ({"messages": ["Uno.", *base["messages"][1:]]}, "messages_changed"),
        ({"model": "claude-sonnet-5-5"}, "model_changed"),
    ):
        reason = told(first, **changes)[1].cache_miss_reason
        assert reason.type == kind
        assert reason.cache_missed_input_tokens > 0
    choice = {"tool_choice": {"type": "any"}}
    assert told(first, **choice)[1].cache_miss_reason.type == "unavailable"
    assert told("msg_0")[1].cache_miss_reason.type == "previous_message_not_found"
    stranger = told(first, Side(side.served, "kb"))[1]
    assert stranger.cache_miss_reason.type == "previous_message_not_found"


def frames(side: Side, **body: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """(event, data) of every frame of a stream."""
    headers = {"anthropic-version": NEW, "authorization": "Bearer ka"}
    with (
        side.served.live.http(headers=headers) as http,
        http.stream("POST", "/v1/messages", json=body | {"stream": True}) as response,
    ):
        response.read()
        for frame in response.text.split("\n\n")[:-1]:
            name, data = frame.split("\n")
            yield name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_check_54_the_first_event_has_the_final_cache_counters(side: Side) -> None:
    system = [text(prose("c54"), mark=True)]
    wrote = written(side.usage("?", system=system))
    told = list(frames(side, model=OPUS, max_tokens=4, messages=said(["Well?"]), system=system))
    assert all(name == data["type"] for name, data in told)
    start = told[0][1]["message"]["usage"]
    delta = next(data["usage"] for name, data in told if name == "message_delta")
    assert start["cache_read_input_tokens"] == delta["cache_read_input_tokens"] == wrote
    assert delta["cache_creation_input_tokens"] == start["cache_creation_input_tokens"] == 0
    assert delta["input_tokens"] == start["input_tokens"]
    assert 1 <= start["output_tokens"] <= delta["output_tokens"] <= 4


def test_check_61_misuse_raises_the_typed_error(side: Side, served: Served) -> None:
    with pytest.raises(anthropic.BadRequestError) as caught:
        side.ask("?", system=[text("x", "2h")])
    error = caught.value
    assert (error.status_code, error.type) == (400, "invalid_request_error")
    assert error.request_id == error.response.headers["request-id"]
    with pytest.raises(anthropic.AuthenticationError):
        Side(served, "nobody").ask("?")
    with pytest.raises(anthropic.NotFoundError):
        side.ask("?", model="claude-0")


def test_check_61_a_tool_runner_goes_on_without_the_thread_it_asked_for(side: Side) -> None:
    """The SDK's own loop, which asks the server to hold the conversation wherever it can."""
    heard = []

    def weather(city: Literal["Rome"]) -> str:
        """Weather of a city."""
        heard.append(city)
        return "sunny"

    runner = side.client.beta.messages.tool_runner(
        model=OPUS,
        max_tokens=200,
        max_iterations=2,
        tools=[anthropic.beta_tool(weather)],
        tool_choice={"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
        messages=[{"role": "user", "content": "Rome?"}],
    )
    assert [answer.stop_reason for answer in runner] == ["tool_use", "tool_use"]
    assert heard == ["Rome", "Rome"]


def test_check_61_a_full_server_says_when_to_come_back(serve: Serve) -> None:
    side = Side(serve(aliases=ALIASES, max_waiting=0))
    with pytest.raises(anthropic.RateLimitError) as caught:
        side.ask("?")
    assert int(caught.value.response.headers["retry-after"]) >= 1


def test_check_62_what_is_gone_is_only_a_miss(side: Side, serve: Serve) -> None:
    system = [text(prose("c62"), mark=True)]
    cold = side.ask("?", system=system, max_tokens=8)

    def same(other: Side) -> None:
        again = other.ask("?", system=system, max_tokens=8)
        assert text_of(again) == text_of(cold)
        assert (read(again.usage), written(again.usage)) == (0, written(cold.usage))

    side.clock.advance(301)
    same(side)
    with side.served.live.http(headers={"authorization": "Bearer op"}) as http:
        assert http.post("/cache/reset").status_code == 200
    same(side)
    same(Side(serve(aliases=ALIASES), "ka"))


def test_check_62_evicted_kv_is_not_billed_as_read(serve: Serve) -> None:
    """1 MiB is some 2,000 tokens, and nothing of it may be held for entries."""
    side = Side(
        serve(
            aliases=ALIASES,
            kv_memory_bytes=1 << 20,
            retention_budget_bytes=1,
            eviction_policy="lru",
        )
    )
    system = [text(prose("c62e"), mark=True)]
    cold = side.ask("?", system=system, max_tokens=8)
    for number in range(6):
        side.usage("?", system=[text(prose(f"c62 {number} "), mark=True)])
    engine = side.served.live.engine
    before = engine.stats().prefill_tokens
    again = side.ask("?", system=system, max_tokens=8)
    computed = engine.stats().prefill_tokens - before
    assert sum(counts(again.usage)) - computed >= read(again.usage)
    assert read(again.usage) < written(cold.usage)
    assert sum(counts(again.usage)) == sum(counts(cold.usage))
    assert text_of(again) == text_of(cold)


def test_check_63_an_answer_nobody_waits_for_leaves_its_entry(side: Side, eventually: Any) -> None:
    system: Any = [text(prose("c63"), mark=True)]
    engine = side.served.live.engine
    with side.client.messages.stream(
        model=OPUS, max_tokens=900, messages=said(["?"]), system=system
    ) as stream:
        start = next(iter(stream))
        assert start.type == "message_start"
        wrote = written(start.message.usage)
    eventually(lambda: engine.stats().running + engine.stats().waiting == 0)
    assert engine.stats().cache.used_tokens == 0
    engine.audit()  # type: ignore[attr-defined]
    assert read(side.usage("?", system=system)) == wrote > 0


def test_check_65_a_write_and_a_read_cost_135_hundredths_instead_of_two(side: Side) -> None:
    side.clock.advance(3600)
    system = [text(prose("c65"), mark=True)]
    usages = [side.ask("?", system=system, max_tokens=1).usage for _ in range(2)]
    side.clock.advance(1)
    with side.served.live.http(headers={"authorization": "Bearer ka"}) as http:
        total = http.get("/v1/usage?since=30m").json()["total"]
    prefix = written(usages[0])
    rest = sum(usage.input_tokens for usage in usages)
    assert read(usages[1]) == prefix
    each, output = Decimal(5) / 10**6, 2 * Decimal(25) / 10**6
    assert Decimal(total["paid"]) == each * (prefix * Decimal("1.35") + rest) + output
    assert Decimal(total["without_cache"]) == each * (prefix * 2 + rest) + output
