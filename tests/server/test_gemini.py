"""Gemini's API through Google's own client, besides the checks in tests/conformance."""

import json
import re
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import torch
from google import genai
from google.genai import errors, types
from tests.server.conftest import Live, on_a_socket

from headstart.engine.build import build_engine
from headstart.ledger import report
from headstart.model.load import load_model
from headstart.server.app import create_app
from headstart.server.books import open_store
from headstart.settings import Settings

PLAIN = "plain"
"""A name without a vendor's minimum."""
WEATHER = types.FunctionDeclaration(
    name="weather",
    description="Tells the weather.",
    parameters=types.Schema(
        type=types.Type.OBJECT,
        properties={"city": types.Schema(type=types.Type.STRING, enum=["Paris", "Rome"])},
        required=["city"],
    ),
)


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def server(start_real: Any, clock: Clock) -> Any:
    return start_real(
        now=clock,
        aliases=(
            ("engine", PLAIN),
            ("gemini", "gemini-4-argon"),
            ("anthropic", "claude-sonnet-4-5"),
        ),
    )


@pytest.fixture(scope="module")
def client(server: Any) -> genai.Client:
    return server.gemini()


def ask(client: genai.Client, contents: Any = "Hello.", **fields: Any) -> Any:
    config = types.GenerateContentConfig(**{"temperature": 0, "max_output_tokens": 5, **fields})
    return client.models.generate_content(model=PLAIN, contents=contents, config=config)


def cached(client: genai.Client, text: str, **fields: Any) -> types.CachedContent:
    config = types.CreateCachedContentConfig(contents=text, **fields)
    return client.caches.create(model=PLAIN, config=config)


def refused(call: Callable[[], object]) -> tuple[int, str | None, str]:
    with pytest.raises(errors.ClientError) as caught:
        call()
    return caught.value.code, caught.value.status, caught.value.message or ""


def pins(server: Any) -> list[tuple[int, float]]:
    return [(pin["tokens"], pin["ttl"]) for pin in server.get("/cache/pin").json()["pins"]]


def forced(**more: Any) -> dict[str, Any]:
    calling = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY, **more)
    return {
        "tools": [types.Tool(function_declarations=[WEATHER])],
        "tool_config": types.ToolConfig(function_calling_config=calling),
        "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
        "max_output_tokens": 500,
    }


def test_a_forced_function_is_called_with_arguments_of_its_schema(client: genai.Client) -> None:
    answer = ask(client, **forced(allowed_function_names=["weather"]))
    assert answer.function_calls
    for call in answer.function_calls:
        assert call.name == "weather"
        assert call.args["city"] in ("Paris", "Rome")
        assert call.id
    assert answer.candidates[0].finish_reason == types.FinishReason.STOP


def test_a_call_that_is_cut_is_no_part_of_the_answer(client: genai.Client) -> None:
    whole = ask(client, **forced())
    room = whole.usage_metadata.candidates_token_count
    cut = ask(client, **forced() | {"max_output_tokens": room - 20})
    assert cut.candidates[0].finish_reason == types.FinishReason.MAX_TOKENS
    assert len(cut.function_calls or []) < len(whole.function_calls)
    assert not cut.text


def test_a_streamed_call_comes_whole_and_is_the_same(client: genai.Client) -> None:
    config = types.GenerateContentConfig(temperature=0, **forced())
    stream = client.models.generate_content_stream(model=PLAIN, contents="Hello.", config=config)
    calls = [call for chunk in stream for call in chunk.function_calls or []]
    whole = ask(client, **forced()).function_calls
    assert [(call.name, call.args) for call in calls] == [(c.name, c.args) for c in whole]


def test_the_result_of_a_call_goes_back_and_the_conversation_goes_on(client: genai.Client) -> None:
    first = ask(client, **forced())
    calls = first.candidates[0].content
    results = types.UserContent(
        [
            types.Part.from_function_response(name=call.name, response={"result": "sun"})
            for call in first.function_calls
        ]
    )
    history = [types.UserContent("Hello."), calls, results]
    second = ask(client, history, tools=forced()["tools"])
    assert second.usage_metadata.prompt_token_count > first.usage_metadata.prompt_token_count
    assert second.usage_metadata.cached_content_token_count > 0


def test_an_answer_obeys_its_schema_and_the_sdk_parses_it(client: genai.Client) -> None:
    schema = types.Schema(
        type=types.Type.OBJECT,
        properties={"sure": types.Schema(type=types.Type.BOOLEAN)},
        required=["sure"],
    )
    answer = ask(
        client,
        response_mime_type="application/json",
        response_schema=schema,
        max_output_tokens=200,
    )
    assert isinstance(answer.parsed["sure"], bool)


def test_a_model_that_may_decide_to_think_decides_not_to(client: genai.Client) -> None:
    def ask(**thinking: Any) -> types.GenerateContentResponse:
        config = types.GenerateContentConfig(temperature=0, max_output_tokens=4, **thinking)
        return client.models.generate_content(model=PLAIN, contents="Think!", config=config)

    decided = ask(thinking_config=types.ThinkingConfig(thinking_budget=-1))
    assert decided.text == ask().text
    assert decided.usage_metadata is not None
    assert decided.usage_metadata.thoughts_token_count is None


def test_candidates_and_their_logprobs(client: genai.Client) -> None:
    answer = ask(client, candidate_count=2, response_logprobs=True, logprobs=2, temperature=1)
    assert [each.index for each in answer.candidates] == [0, 1]
    for each in answer.candidates:
        told = each.logprobs_result
        assert len(told.chosen_candidates) == len(told.top_candidates) == 5
        mean = sum(token.log_probability for token in told.chosen_candidates) / 5
        assert each.avg_logprobs == pytest.approx(mean)
        for token, top in zip(told.chosen_candidates, told.top_candidates, strict=True):
            assert len(top.candidates) == 2
            assert top.candidates[0].log_probability >= token.log_probability - 1e-6
    assert answer.usage_metadata.candidates_token_count == 10


def test_stop_sequences_end_an_answer_and_are_no_part_of_it(client: genai.Client) -> None:
    whole = ask(client, max_output_tokens=12).text
    stop = whole[4:6]
    answer = ask(client, max_output_tokens=12, stop_sequences=[stop])
    assert answer.text == whole[: whole.index(stop)]
    assert answer.candidates[0].finish_reason == types.FinishReason.STOP


def test_an_answer_is_cut_to_what_fits_and_a_prompt_that_does_not_fit_is_refused(
    client: genai.Client,
) -> None:
    answer = ask(client, max_output_tokens=8192)
    assert answer.usage_metadata.total_token_count <= 1024
    code, status, message = refused(lambda: ask(client, "too long " * 400))
    assert (code, status) == (400, "INVALID_ARGUMENT")
    assert re.fullmatch(
        r"The input token count \(\d+\) exceeds the maximum number of tokens allowed \(1023\)\.",
        message,
    )


def test_a_streamed_chat_reuses_turn_by_turn(client: genai.Client) -> None:
    config = types.GenerateContentConfig(temperature=0, max_output_tokens=4)
    chat = client.chats.create(model=PLAIN, config=config)
    read, prompts = [], []
    for turn in ("The first question.", "The second one.", "And a third."):
        *_, last = chat.send_message_stream(turn)
        assert last.usage_metadata is not None
        read.append(last.usage_metadata.cached_content_token_count or 0)
        prompts.append(last.usage_metadata.prompt_token_count or 0)
    assert prompts == sorted(prompts)
    for before, now in zip(prompts, read[1:], strict=False):
        assert now >= before - 1


def test_a_key_in_the_url_speaks_gemini(server: Any) -> None:
    with server.http() as http:
        assert "models" in http.get("/v1/models?key=anything").json()
        assert "data" in http.get("/v1/models").json()
        assert "error" in http.get("/v1/models/nope?key=anything").json()


def test_requests_are_counted_by_method_and_not_by_model(server: Any, client: genai.Client) -> None:
    ask(client)
    label = 'headstart_requests_total{endpoint="/v1/models:generateContent",status="200"}'
    assert label in server.get("/metrics").text


def test_a_cached_content_is_pinned_to_its_end_and_no_longer(
    server: Any, client: genai.Client, clock: Clock
) -> None:
    content = cached(client, "pinned " * 20, ttl="100s")
    size = content.usage_metadata.total_token_count
    assert pins(server) == [(size, 100.0)]
    clock.now += 40
    ask(client, "Well?", cached_content=content.name)
    assert pins(server) == [(size, 60.0)]
    client.caches.update(name=content.name, config={"ttl": "500s"})
    assert pins(server) == [(size, 500.0)]
    client.caches.delete(name=content.name)
    assert pins(server) == []


@pytest.mark.parametrize(("ttl", "left"), [(6, [1.0]), (3, [])])
def test_api_14_a_slow_creation_takes_its_time_from_the_lifetime(
    server: Any, client: genai.Client, clock: Clock, monkeypatch: Any, ttl: int, left: list[float]
) -> None:
    """The end counts from when the creation began; what is held for it, from the clock after."""
    run, later = server.engine._runner.run, clock.now + 5

    def slow(slices: Any) -> Any:
        clock.now = later
        return run(slices)

    monkeypatch.setattr(server.engine._runner, "run", slow)
    content = cached(client, f"slow {ttl} " * 20, ttl=f"{ttl}s")
    assert (content.expire_time - content.create_time).total_seconds() == ttl
    assert content.create_time.timestamp() == clock.now - 5
    assert [seconds for _, seconds in pins(server)] == left
    if left:
        client.caches.delete(name=content.name)
    else:
        assert refused(lambda: client.caches.get(name=content.name))[0] == 403


def test_contents_that_say_the_same_share_a_pin_until_the_last_ends(
    server: Any, client: genai.Client
) -> None:
    first = cached(client, "twins " * 20, ttl="100s")
    second = cached(client, "twins " * 20, ttl="50s")
    size = first.usage_metadata.total_token_count
    assert pins(server) == [(size, 100.0)]
    ask(client, "Well?", cached_content=second.name)
    assert pins(server) == [(size, 100.0)]
    client.caches.delete(name=first.name)
    assert pins(server) == [(size, 50.0)]
    client.caches.delete(name=second.name)
    assert pins(server) == []


def test_what_the_budget_has_no_room_for_is_refused_and_leaves_nothing(start_real: Any) -> None:
    server = start_real(aliases=(("engine", PLAIN),), retention_budget_bytes=1 << 14)
    client = server.gemini()
    code, status, message = refused(lambda: cached(client, "large " * 60))
    assert (code, status) == (429, "RESOURCE_EXHAUSTED")
    assert "memory" in message
    assert server.get("/v1beta/cachedContents").json() == {}
    assert pins(server) == []
    assert "account_token_seconds_total{" not in server.get("/metrics").text, "no rent is due"


@pytest.mark.parametrize("model", ["gemini-4-argon", "claude-sonnet-4-5"])
def test_models_without_explicit_caching_say_so(client: genai.Client, model: str) -> None:
    code, status, message = refused(
        lambda: client.caches.create(model=model, config={"contents": "a"})
    )
    assert (code, status) == (404, "NOT_FOUND")
    assert "is not supported for createCachedContent" in message


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"contents": "a", "ttl": "0s"}, "must expire in the future"),
        ({"contents": "a", "ttl": "1s", "expire_time": "2030-01-01T00:00:00Z"}, "already set"),
        ({"contents": "a", "ttl": "soon"}, r"'cached_content\.ttl'"),
    ],
)
def test_an_end_that_makes_no_sense_is_refused(
    client: genai.Client, config: Any, said: str
) -> None:
    with pytest.raises(errors.ClientError, match=said):
        client.caches.create(model=PLAIN, config=config)
    assert list(client.caches.list()) == []


def test_a_patch_of_the_name_is_refused(server: Any) -> None:
    with server.http() as http:
        answer = http.patch("/v1/cachedContents/a", json={"name": "cachedContents/b", "ttl": "1s"})
    assert answer.status_code == 400
    assert "oneof field '_name' is already set" in answer.json()["error"]["message"]


def test_the_ledger_has_the_creation_the_uses_and_the_storage(
    start_real: Any, tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    """Rule G9: the creation at full price, uses as read, storage for the time it was held."""
    clock = Clock()
    checkpoint = tiny_checkpoint("llama", max_position_embeddings=4096)
    loaded = load_model(str(checkpoint), dtype=torch.float32, device=torch.device("cpu"))
    path = tmp_path / "ledger.db"
    aliases = (("gemini", "gemini-2.5-flash"),)
    live = start_real(loaded, now=clock, ledger=str(path), aliases=aliases)
    client = live.gemini()
    model = "gemini-2.5-flash"
    text = " ".join(map(str, range(420)))
    content = client.caches.create(model=model, config={"contents": text, "ttl": "7200s"})
    size = content.usage_metadata.total_token_count
    config = types.GenerateContentConfig(
        temperature=0, max_output_tokens=2, cached_content=content.name
    )
    for question in ("One?", "Two?"):
        client.models.generate_content(model=model, contents=question, config=config)
    clock.now += 3600
    client.caches.delete(name=content.name)
    live.get("/v1/usage")  # Has the rows written.
    rows = (
        sqlite3.connect(path)
        .execute(
            "SELECT prompt, read, token_seconds, warms, written, reason FROM requests"
            " ORDER BY rowid"
        )
        .fetchall()
    )
    creation, *uses, storage = rows
    assert 1024 <= size < 2048, "between the model's explicit minimum and its implicit one"
    assert creation == (size, 0, 0, 1, size, "never_seen")
    assert [use[1:5] for use in uses] == [(size, 0, 0, 0)] * 2
    assert storage == (0, 0, size * 3600, 0, 0, "")
    told = json.loads(live.get("/v1/usage").text)["total"]
    assert float(told["storage_token_hours"]) == size
    assert (told["requests"], told["written"]["explicit"]["tokens"]) == (3, size)


def test_rent_is_a_row_an_hour_and_the_same_in_ledger_usage_and_counters(
    start_real: Any, tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    checkpoint = tiny_checkpoint("llama", max_position_embeddings=4096)
    loaded = load_model(str(checkpoint), dtype=torch.float32, device=torch.device("cpu"))
    clock = Clock()
    path, model = tmp_path / "ledger.db", "gemini-2.5-flash"
    clock.now = 500_000 * 3600.0 + 3000
    live = start_real(loaded, now=clock, ledger=str(path), aliases=(("gemini", model),))
    config: Any = {"contents": " ".join(map(str, range(420))), "ttl": "7200s"}
    client = live.gemini()
    content = client.caches.create(model=model, config=config)
    size = content.usage_metadata.total_token_count
    for _ in range(40):
        clock.now += 33.3
        live.get("/v1/usage")
    clock.now += 7200  # It is over long before; nobody asked.

    told = live.get("/v1/usage?by=hour").json()
    counter = f'headstart_account_token_seconds_total{{contract="gemini",model="{model}"}} '
    counted = next(
        line.removeprefix(counter)
        for line in live.get("/metrics").text.splitlines()
        if line.startswith(counter)
    )
    found = report(path).total
    assert float(counted) == found.token_seconds == size * 7200
    assert Decimal(told["total"]["storage_token_hours"]) == size * 2
    # $1.00 for a million token-hours (rules.toml).
    assert Decimal(told["total"]["storage"]) == Decimal(size) * 2 / 1_000_000
    seconds = [float(hour["storage_token_hours"]) * 3600 / size for hour in told["groups"]]
    assert seconds == pytest.approx([600, 3600, 3000])


def test_what_is_still_stored_when_the_server_ends_is_billed_up_to_then(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path, clock: Clock
) -> None:
    checkpoint = tiny_checkpoint("llama", max_position_embeddings=4096)
    loaded = load_model(str(checkpoint), dtype=torch.float32, device=torch.device("cpu"))
    settings = Settings(
        dtype="float32",
        kv_memory_bytes=8 << 20,
        ledger=str(tmp_path / "ledger.db"),
        aliases=(("gemini", "gemini-2.5-flash"),),
    )
    engine = build_engine(loaded, settings)
    with open_store(settings) as store:
        app = create_app(engine, loaded.codec, settings, store=store, now=clock)
        with on_a_socket(app, settings, engine) as url:
            client = Live(url, engine, loaded.codec).gemini()
            config: Any = {"contents": " ".join(map(str, range(420))), "ttl": "7200s"}
            content = client.caches.create(model="gemini-2.5-flash", config=config)
            clock.now += 1800
        app.bill()
    (stored,) = sqlite3.connect(tmp_path / "ledger.db").execute(
        "SELECT token_seconds FROM requests WHERE dialect = 'gemini.storage'"
    )
    assert stored == (content.usage_metadata.total_token_count * 1800,)
