"""Google's own SDK against the server: the checks of `dialects.md`, §8, that are Gemini's."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
import torch
from google import genai
from google.genai import errors, types
from tests.conformance.served import Clock, touched

from headstart.model.load import load_model

MODEL = "gemini-2.5-flash"
OTHER = "gemini-2.5-flash-lite"
LEAST = 1024
"""Tokens of the smallest cached content for both (rule G5)."""
ENOUGH = 420
"""Words of a document that explicit caching takes."""
LONG = 800
"""Words of one that implicit caching takes too: 2,048 tokens (rule G2)."""
GONE = "CachedContent not found (or permission denied)"
VERSIONS = (None, "v1beta")
"""The SDK's own (v1), and what its first generation takes."""


@pytest.fixture(scope="module")
def server(
    start_real: Any,
    tiny_checkpoint: Callable[..., Path],
    tmp_path_factory: pytest.TempPathFactory,
    clock: Clock,
) -> Any:
    """Room for 4,096 tokens, and two tenants."""
    keys = tmp_path_factory.mktemp("keys") / "keys"
    keys.write_text("alice-key alice\nbob-key bob\n")
    checkpoint = tiny_checkpoint("llama", max_position_embeddings=4096)
    return start_real(
        loaded=load_model(str(checkpoint), dtype=torch.float32, device=torch.device("cpu")),
        now=clock,
        aliases=(("gemini", MODEL), ("gemini", OTHER)),
        api_key="operator-key",
        api_keys_file=str(keys),
        kv_memory_bytes=6 << 20,
    )


@pytest.fixture(scope="module")
def alice(server: Any) -> genai.Client:
    return server.gemini("alice-key")


@pytest.fixture(scope="module")
def bob(server: Any) -> genai.Client:
    return server.gemini("bob-key")


def document(seed: str, words: int = ENOUGH) -> str:
    """New for every seed; some 3 tokens a word."""
    return " ".join([seed, *map(str, range(words))])


def brief(**fields: Any) -> types.GenerateContentConfig:
    return types.GenerateContentConfig(temperature=0, max_output_tokens=6, **fields)


def cache(
    client: genai.Client, seed: str, words: int = ENOUGH, **fields: Any
) -> types.CachedContent:
    config = types.CreateCachedContentConfig(contents=document(seed, words), **fields)
    return client.caches.create(model=MODEL, config=config)


def ask(client: genai.Client, contents: Any, **fields: Any) -> types.GenerateContentResponse:
    return client.models.generate_content(model=MODEL, contents=contents, config=brief(**fields))


def usage(response: types.GenerateContentResponse) -> tuple[int, int | None]:
    """Tokens of the prompt, and of those, what came from the cache."""
    told = response.usage_metadata
    assert told is not None
    assert told.prompt_token_count is not None
    return told.prompt_token_count, told.cached_content_token_count


def tokens(content: types.CachedContent) -> int:
    assert content.usage_metadata is not None
    assert content.usage_metadata.total_token_count is not None
    return content.usage_metadata.total_token_count


def same(content: types.CachedContent) -> dict[str, Any]:
    """All but what only says how it came."""
    return content.model_dump(exclude={"sdk_http_response"})


def refused(call: Callable[[], object]) -> tuple[int, str | None, str | None]:
    with pytest.raises(errors.ClientError) as caught:
        call()
    return caught.value.code, caught.value.status, caught.value.message


@pytest.fixture
def kept(alice: genai.Client) -> Iterator[Callable[..., types.CachedContent]]:
    """`kept(seed, …)`: a cached content that is deleted after the test."""
    made: list[types.CachedContent] = []

    def keep(seed: str, words: int = ENOUGH, **fields: Any) -> types.CachedContent:
        made.append(cache(alice, seed, words, **fields))
        return made[-1]

    yield keep
    for content in made:
        try:
            alice.caches.delete(name=str(content.name))
        except errors.ClientError:
            continue


@pytest.mark.parametrize("version", VERSIONS)
def test_check_01_a_plain_call_parses_and_has_text(server: Any, version: str | None) -> None:
    client = server.gemini("alice-key", version)
    response = ask(client, "Say something.", system_instruction="Be brief.")
    assert response.text
    assert response.candidates is not None
    assert response.candidates[0].finish_reason == types.FinishReason.MAX_TOKENS
    assert response.model_version == MODEL
    assert response.response_id


@pytest.mark.parametrize("version", VERSIONS)
def test_check_02_streamed_pieces_are_the_whole_answer(server: Any, version: str | None) -> None:
    client = server.gemini("alice-key", version)
    whole = ask(client, "Count.")
    stream = client.models.generate_content_stream(model=MODEL, contents="Count.", config=brief())
    assert "".join(piece.text for piece in stream) == whole.text
    chat = client.chats.create(model=MODEL, config=brief())
    said = "".join(piece.text for piece in chat.send_message_stream("Count."))
    assert said == whole.text


def test_check_03_every_sdk_lists_the_models_in_its_own_shape(
    server: Any, alice: genai.Client
) -> None:
    names = ["tiny", MODEL, OTHER]
    assert [each.name for each in alice.models.list()] == [f"models/{name}" for name in names]
    assert [each.id for each in server.client("alice-key").models.list()] == names
    model = alice.models.get(model=MODEL)
    assert (model.name, model.input_token_limit) == (f"models/{MODEL}", 4096)
    assert "createCachedContent" in (model.supported_actions or [])
    assert [each.name for each in alice.models.list(config={"page_size": 1})] == [
        f"models/{name}" for name in names
    ]


def test_check_05_both_versions_of_the_api_behave_identically(server: Any) -> None:
    def steady(value: Any) -> Any:
        """Without what differs from one request to the next."""
        if isinstance(value, list):
            return [steady(each) for each in value]
        if not isinstance(value, dict):
            return value
        changing = ("responseId", "name", "cachedContentTokenCount", "cacheTokensDetails")
        return {key: steady(each) for key, each in value.items() if key not in changing}

    said = {"contents": [{"parts": [{"text": "Hello."}]}]}
    drawn = {**said, "generationConfig": {"temperature": 0, "maxOutputTokens": 3}}
    content = {"model": f"models/{MODEL}", "contents": [{"parts": [{"text": document("v")}]}]}
    answers = []
    for version in ("v1", "v1beta"):
        base = f"/{version}/models/{MODEL}"
        created = server.post(f"/{version}/cachedContents", "alice-key", **content)
        responses = [
            created,
            server.get(f"/{version}/{created.json()['name']}", "alice-key"),
            server.get(f"/{version}/cachedContents", "alice-key"),
            server.post(f"{base}:generateContent", "alice-key", **drawn),
            server.post(f"{base}:streamGenerateContent", "alice-key", **drawn),
            server.post(f"{base}:countTokens", "alice-key", **said),
            server.delete(f"/{version}/{created.json()['name']}", "alice-key"),
        ]
        with server.http(headers={"x-goog-api-key": "alice-key"}) as http:
            responses += [http.get(f"/{version}/models"), http.get(base)]
        answers.append([(each.status_code, steady(each.json())) for each in responses])
    assert answers[0] == answers[1]
    assert {status for status, _ in answers[0]} == {200}


def test_check_11_a_hit_says_what_a_cold_run_says(alice: genai.Client, bob: genai.Client) -> None:
    prompt = document("eleven", LONG)
    cold, again = ask(alice, prompt), ask(alice, prompt)
    assert (usage(cold)[1], usage(ask(bob, prompt))[1]) == (None, None)
    assert usage(again)[1]
    assert cold.text == again.text


def test_check_12_what_is_read_was_not_computed(server: Any, alice: genai.Client) -> None:
    for seed in ("twelve", "twelve", "other"):
        before = server.engine.stats().prefill_tokens
        prompt, read = usage(ask(alice, document(seed, LONG)))
        computed = server.engine.stats().prefill_tokens - before
        assert (read or 0) <= prompt - computed


def test_check_13_a_change_ends_what_is_read(alice: genai.Client) -> None:
    words = document("thirteen", LONG + 100).split()
    ask(alice, " ".join(words))
    before = alice.models.count_tokens(model=MODEL, contents=" ".join(words[:LONG])).total_tokens
    words[LONG] = "changed"
    _, read = usage(ask(alice, " ".join(words)))
    assert read is not None
    assert before is not None
    assert read <= before


def test_check_14_a_cached_content_is_read_whole(
    server: Any, alice: genai.Client, kept: Any
) -> None:
    content = kept("fourteen", display_name="doc", ttl="60s")
    assert content.name.startswith("cachedContents/")
    assert (content.model, content.display_name) == (f"models/{MODEL}", "doc")
    assert content.expire_time - content.create_time == timedelta(seconds=60)
    assert content.update_time == content.create_time
    assert tokens(content) >= LEAST
    raw = server.get(f"/v1/{content.name}", "alice-key").json()
    assert set(raw) == {
        "name",
        "model",
        "displayName",
        "createTime",
        "updateTime",
        "expireTime",
        "usageMetadata",
    }
    for question in ("What does it say?", "And who wrote it?", "What does it say?", "When?"):
        before = server.engine.stats().prefill_tokens
        prompt, read = usage(ask(alice, question, cached_content=content.name))
        assert read == tokens(content) < prompt
        assert server.engine.stats().prefill_tokens - before <= prompt - read


@pytest.mark.parametrize("streamed", [False, True])
def test_check_15_a_cached_content_is_as_good_as_its_contents(
    alice: genai.Client, bob: genai.Client, kept: Any, streamed: bool
) -> None:
    seed = f"fifteen{streamed}"
    tool = types.Tool(
        function_declarations=[
            types.FunctionDeclaration(
                name="look_up", description="Looks up.", parameters_json_schema={"type": "object"}
            )
        ]
    )
    shared: dict[str, Any] = {"system_instruction": "You know it all.", "tools": [tool]}
    content = kept(seed, **shared)
    inlined = [types.UserContent(document(seed)), types.UserContent("Well?")]
    if streamed:
        stream = alice.models.generate_content_stream(
            model=MODEL, contents="Well?", config=brief(cached_content=content.name)
        )
        pieces = list(stream)
        assert usage(pieces[-1])[1] == tokens(content)
        said = "".join(piece.text or "" for piece in pieces)
        prompt = usage(pieces[-1])[0]
    else:
        answer = ask(alice, "Well?", cached_content=content.name)
        said, prompt = answer.text or "", usage(answer)[0]
    cold = ask(bob, inlined, **shared)
    assert (said, prompt) == (cold.text or "", usage(cold)[0])


def test_check_16_what_is_not_there_is_forbidden(
    server: Any, alice: genai.Client, clock: Clock
) -> None:
    deleted = str(cache(alice, "deleted").name)
    alice.caches.delete(name=deleted)
    expired = str(cache(alice, "expired", ttl="10s").name)
    clock.now += 9.9
    assert alice.caches.get(name=expired)
    clock.now += 0.1
    for name in (deleted, expired, "cachedContents/never"):
        for call in (
            lambda name=name: alice.caches.get(name=name),
            lambda name=name: alice.caches.update(name=name, config={"ttl": "5s"}),
            lambda name=name: alice.caches.delete(name=name),
            lambda name=name: ask(alice, "a", cached_content=name),
        ):
            assert refused(call) == (403, "PERMISSION_DENIED", GONE)


@pytest.mark.parametrize(
    "fields",
    [
        {"system_instruction": "Be brief."},
        {"tools": [types.Tool(function_declarations=[types.FunctionDeclaration(name="f")])]},
        {
            "tool_config": types.ToolConfig(
                function_calling_config=types.FunctionCallingConfig(
                    mode=types.FunctionCallingConfigMode.NONE
                )
            )
        },
    ],
)
def test_check_17_a_cached_content_excludes_instructions_and_tools(
    alice: genai.Client, kept: Any, fields: dict[str, Any]
) -> None:
    name = kept("seventeen").name
    assert ask(alice, "a", cached_content=name, top_k=3).text is not None
    assert refused(lambda: ask(alice, "a", cached_content=name, **fields)) == (
        400,
        "INVALID_ARGUMENT",
        "CachedContent can not be used with GenerateContent request setting system_instruction, "
        "tools or tool_config.\n\nProposed fix: move those values to CachedContent from "
        "GenerateContent request.",
    )


def test_check_17_a_cached_content_belongs_to_one_model(alice: genai.Client, kept: Any) -> None:
    name = kept("one model").name
    assert refused(
        lambda: alice.models.generate_content(
            model=OTHER, contents="a", config=brief(cached_content=name)
        )
    ) == (
        400,
        "INVALID_ARGUMENT",
        f"Model used by GenerateContent request (models/{OTHER}) and CachedContent "
        f"(models/{MODEL}) has to be the same.",
    )


def test_check_18_the_minimum_is_exact(alice: genai.Client) -> None:
    def create(count: int) -> types.CachedContent:
        return alice.caches.create(model=MODEL, config={"contents": "eighteen" + " x" * count})

    def too_small(count: int) -> int:
        code, status, message = refused(lambda: create(count))
        told = re.fullmatch(
            r"Cached content is too small\. total_token_count=(\d+), min_total_token_count=1024",
            message or "",
        )
        assert (code, status) == (400, "INVALID_ARGUMENT")
        assert told, message
        return int(told[1])

    few, more = too_small(10), too_small(11)
    least = 10 + -(-(LEAST - few) // (more - few))
    assert too_small(least - 1) == few + (least - 11) * (more - few) < LEAST
    content = create(least)
    assert tokens(content) == few + (least - 10) * (more - few) >= LEAST
    alice.caches.delete(name=str(content.name))


def test_check_33_projects_share_nothing(alice: genai.Client, bob: genai.Client, kept: Any) -> None:
    name = kept("thirty-three").name
    for call in (
        lambda: bob.caches.get(name=name),
        lambda: bob.caches.delete(name=name),
        lambda: ask(bob, "a", cached_content=name),
    ):
        assert refused(call) == (403, "PERMISSION_DENIED", GONE)
    assert name not in [each.name for each in bob.caches.list()]
    prompt = document("walls", LONG)
    ask(alice, prompt)
    assert usage(ask(bob, prompt))[1] is None
    assert usage(ask(alice, prompt))[1]


def test_check_34_models_share_nothing(alice: genai.Client) -> None:
    prompt = document("thirty-four", LONG)
    ask(alice, prompt)
    other = alice.models.generate_content(model=OTHER, contents=prompt, config=brief())
    assert usage(other)[1] is None
    assert usage(ask(alice, prompt))[1]


def test_check_56_a_stream_is_data_lines_alone(server: Any) -> None:
    with server.http(headers={"x-goog-api-key": "alice-key"}) as http:
        body = {
            "contents": [{"parts": [{"text": document("fifty-six", LONG)}]}],
            "generationConfig": {"maxOutputTokens": 4},
        }
        path = f"/v1beta/models/{MODEL}:streamGenerateContent"
        for _ in range(2):
            response = http.post(f"{path}?alt=sse", json=body)
        array = http.post(path, json=body)
    assert response.headers["content-type"].startswith("text/event-stream")
    lines = [line for line in response.text.split("\r\n") if line]
    assert all(line.startswith("data: {") for line in lines)
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines]
    ended = ["finishReason" in chunk["candidates"][0] for chunk in chunks]
    assert ended == [False] * (len(chunks) - 1) + [True]
    assert chunks[-1]["usageMetadata"]["cachedContentTokenCount"] > 0
    assert array.headers["content-type"] == "application/json"
    assert isinstance(array.json(), list)


def test_check_58_only_the_end_can_be_moved(alice: genai.Client, clock: Clock, kept: Any) -> None:
    content = kept("fifty-eight", ttl="100s")
    clock.now += 50
    ask(alice, "a", cached_content=content.name)
    assert same(alice.caches.get(name=content.name)) == same(content)
    moved = alice.caches.update(name=content.name, config={"ttl": "100s"})
    assert moved.expire_time == content.expire_time + timedelta(seconds=50)
    until = datetime.fromtimestamp(clock.now + 500, UTC)
    moved = alice.caches.update(name=content.name, config={"expire_time": until})
    assert moved.expire_time == until
    changed = {"expire_time": until, "update_time": moved.update_time}
    assert same(moved) == same(content.model_copy(update=changed))
    assert alice.caches.get(name=content.name).expire_time == until


def test_check_58_lists_come_in_pages_and_nothing_is_an_empty_object(
    server: Any, bob: genai.Client
) -> None:
    assert server.get("/v1/cachedContents", "bob-key").json() == {}
    names = [cache(bob, f"page{number}").name for number in range(3)]
    page = server.get("/v1/cachedContents?pageSize=2", "bob-key").json()
    assert [each["name"] for each in page["cachedContents"]] == names[:2]
    assert page["nextPageToken"]
    assert [each.name for each in bob.caches.list(config={"page_size": 2})] == names
    for name in names:
        assert server.delete(f"/v1/{name}", "bob-key").json() == {}
    assert server.get("/v1/cachedContents", "bob-key").json() == {}


def test_check_59_a_hit_is_counted_in_its_details_and_a_miss_is_not_mentioned(
    server: Any,
) -> None:
    body = {
        "contents": [{"parts": [{"text": document("fifty-nine", LONG)}]}],
        "generationConfig": {"maxOutputTokens": 1},
    }
    path = f"/v1/models/{MODEL}:generateContent"
    miss, hit = (server.post(path, "alice-key", **body).json()["usageMetadata"] for _ in range(2))
    assert not [name for name in miss if "ache" in name]
    cached = hit["cachedContentTokenCount"]
    assert cached == sum(each["tokenCount"] for each in hit["cacheTokensDetails"])
    assert 0 < cached <= hit["promptTokenCount"] == miss["promptTokenCount"]
    assert hit["totalTokenCount"] == hit["promptTokenCount"] + hit["candidatesTokenCount"]


@pytest.mark.parametrize(("words", "hits"), [(LONG, True), (ENOUGH, False)])
def test_check_59_below_the_minimum_nothing_is_cached(
    alice: genai.Client, words: int, hits: bool
) -> None:
    prompt = document(f"minimum{words}", words)
    assert usage(ask(alice, prompt))[1] is None
    size, read = usage(ask(alice, prompt))
    assert (read is not None) == (size >= 2048) == hits


def test_check_60_both_spellings_work_and_an_unknown_field_is_refused(server: Any) -> None:
    path = f"/v1/models/{MODEL}:generateContent"
    contents = [{"parts": [{"text": "Hi."}]}]
    system = {"parts": [{"text": "Be brief."}]}
    drawn = {"temperature": 0, "maxOutputTokens": 5, "stopSequences": ["zz"]}
    leaked = {"temperature": 0, "max_output_tokens": 5, "stop_sequences": ["zz"]}
    camel = {"contents": contents, "systemInstruction": system, "generationConfig": drawn}
    snake = {"contents": contents, "system_instruction": system, "generation_config": leaked}
    said = [server.post(path, "alice-key", **body).json() for body in (camel, snake)]
    assert said[0]["candidates"] == said[1]["candidates"]
    wrong = server.post(path, "alice-key", **camel, x=1)
    assert wrong.status_code == 400
    told = wrong.json()["error"]["message"]
    assert told == 'Invalid JSON payload received. Unknown name "x": Cannot find field.'


def test_check_61_misuse_raises_the_sdks_typed_error(server: Any, alice: genai.Client) -> None:
    stranger = server.gemini("wrong-key")
    beta = server.gemini("alice-key", "v1beta")

    def image() -> object:
        part = types.Part.from_bytes(data=b"x", mime_type="image/png")
        return ask(alice, [part])

    for call, told in (
        (
            image,
            (400, "INVALID_ARGUMENT", f"Image input modality is not enabled for models/{MODEL}"),
        ),
        (
            lambda: stranger.models.list(),
            (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
        ),
        (
            lambda: beta.models.generate_content(model="nope", contents="a"),
            (
                404,
                "NOT_FOUND",
                "models/nope is not found for API version v1beta, or is not supported for "
                "generateContent. Call ListModels to see the list of available models and their "
                "supported methods.",
            ),
        ),
        (
            lambda: ask(alice, "a", thinking_config=types.ThinkingConfig(thinking_budget=100)),
            (400, "INVALID_ARGUMENT", "Thinking budget is not supported for this model."),
        ),
    ):
        assert refused(call) == told
    with pytest.raises(errors.ClientError) as caught:
        image()
    assert caught.value.response.headers["x-request-id"]


@pytest.mark.parametrize("path", ["/v1beta/nope", "/v1beta/models?key=wrong"])
def test_check_61_what_has_no_endpoint_or_key_is_told_in_the_envelope(
    server: Any, path: str
) -> None:
    with server.http() as http:
        error = http.get(path).json()["error"]
    assert set(error) >= {"code", "message", "status"}


def test_check_62_an_end_or_a_restart_is_told_and_pressure_is_only_a_miss(
    server: Any, alice: genai.Client, clock: Clock, kept: Any
) -> None:
    content = kept("sixty-two", ttl="100s")
    before = ask(alice, "And?", cached_content=content.name)
    pool = server.engine.stats().cache.capacity_tokens
    filled = 0
    while filled < pool:
        filled += usage(ask(alice, document(f"fill{filled}", 1000)))[0]
    held = ask(alice, "Or?", cached_content=content.name)
    assert usage(held)[1] == tokens(content)
    with server.http(headers={"authorization": "Bearer operator-key"}) as http:
        http.post("/cache/reset")
    lost = ask(alice, "And?", cached_content=content.name)
    assert (lost.text, usage(lost)) == (before.text, (usage(before)[0], None))
    again = ask(alice, "But?", cached_content=content.name)
    assert (usage(again)[1] or 0) >= tokens(content)
    clock.now += 100
    call = lambda: ask(alice, "And?", cached_content=content.name)  # noqa: E731
    assert refused(call) == (403, "PERMISSION_DENIED", GONE)


def test_check_63_a_client_that_leaves_leaves_nothing_behind(
    server: Any, alice: genai.Client, eventually: Callable[..., None]
) -> None:
    prompt = document("sixty-three", LONG)
    stream = alice.models.generate_content_stream(
        model=MODEL, contents=prompt, config={"max_output_tokens": 1500}
    )
    next(iter(stream))
    stream.close()
    eventually(lambda: not server.engine.stats().running)
    server.engine.audit()
    size, read = usage(ask(alice, prompt))
    assert read is not None
    assert 2048 <= read < size


def test_check_63_leaving_a_creation_leaves_no_resource(
    server: Any, alice: genai.Client, eventually: Callable[..., None]
) -> None:
    text = document("leaving", 1250)
    body = {"model": f"models/{MODEL}", "contents": [{"parts": [{"text": text}]}]}
    known = [each.name for each in alice.caches.list()]
    with (
        server.http(headers={"x-goog-api-key": "alice-key"}) as http,
        pytest.raises(httpx.ReadTimeout),
    ):
        http.post("/v1/cachedContents", json=body, timeout=0.05)
    eventually(lambda: not server.engine.stats().running)
    eventually(lambda: [each.name for each in alice.caches.list()] == known)
    server.engine.audit()


def test_check_64_what_is_counted_is_what_is_billed(
    server: Any, alice: genai.Client, kept: Any
) -> None:
    content = kept("sixty-four")
    tool = {"functionDeclarations": [{"name": "f", "description": "Does it."}]}
    system = {"parts": [{"text": "Be brief."}]}
    said = {"contents": [{"parts": [{"text": "How many?"}]}]}
    before = touched(server.engine)
    counted = [
        server.post(
            f"/v1/models/{MODEL}:countTokens",
            "alice-key",
            generateContentRequest={"model": f"models/{MODEL}", **said, **more},
        ).json()
        for more in (
            {},
            {"systemInstruction": system, "tools": [tool]},
            {"cachedContent": content.name},
        )
    ]
    assert touched(server.engine) == before
    assert (
        alice.models.count_tokens(model=MODEL, contents="How many?").total_tokens
        == (counted[0]["totalTokens"])
    )
    billed = [
        ask(alice, "How many?"),
        ask(alice, "How many?", system_instruction="Be brief.", tools=[tool]),
        ask(alice, "How many?", cached_content=content.name),
    ]
    assert [each["totalTokens"] for each in counted] == [usage(each)[0] for each in billed]
    assert counted[2]["cachedContentTokenCount"] == tokens(content)


@pytest.mark.parametrize("seed", range(2))
def test_at_random_resources_do_what_a_list_of_them_would(
    server: Any, alice: genai.Client, bob: genai.Client, clock: Clock, seed: int
) -> None:
    """Created, used, moved, deleted, forgotten and outlived in any order, by two tenants."""
    random = Random(seed)
    clients = {"alice": alice, "bob": bob}
    said: dict[str, str | None] = {}
    alive: dict[str, tuple[str, str, int, float]] = {}
    """By name: owner, text, tokens, end."""
    names: list[str] = ["cachedContents/never"]
    for _ in range(40):
        owner = random.choice(list(clients))
        client, name = clients[owner], random.choice(names)
        known = alive.get(name)
        there = known is not None and known[0] == owner and known[3] > clock.now
        match random.choice(("create", "use", "use", "use", "move", "delete", "wait", "reset")):
            case "create":
                text = document(f"random{random.randrange(3)}")
                ttl = random.randrange(10, 100)
                made = client.caches.create(
                    model=MODEL, config={"contents": text, "ttl": f"{ttl}s"}
                )
                alive[str(made.name)] = owner, text, tokens(made), clock.now + ttl
                names.append(str(made.name))
            case "use" if there and known is not None:
                prompt, read = usage(answer := ask(client, "Why?", cached_content=name))
                assert (read or 0) <= known[2] < prompt
                assert answer.text == said.setdefault(known[1], answer.text)
            case "move" if there and known is not None:
                client.caches.update(name=name, config={"ttl": "50s"})
                alive[name] = (*known[:3], clock.now + 50)
            case "delete" if there:
                client.caches.delete(name=name)
                del alive[name]
            case "wait":
                clock.now += random.randrange(60)
            case "reset":
                with server.http(headers={"authorization": "Bearer operator-key"}) as http:
                    http.post("/cache/reset")
            case "create" | "use" | "move" | "delete":
                for call in (
                    lambda: client.caches.get(name=name),  # noqa: B023
                    lambda: ask(client, "Why?", cached_content=name),  # noqa: B023
                ):
                    assert refused(call) == (403, "PERMISSION_DENIED", GONE)
        living = {
            name for name, (whose, _, _, end) in alive.items() if whose == owner and end > clock.now
        }
        assert {each.name for each in client.caches.list()} == living
    assert said
    for text, answer_text in said.items():
        inlined = [types.UserContent(text), types.UserContent("Why?")]
        assert ask(alice, inlined).text == answer_text
    for name, (whose, _, _, end) in alive.items():
        if end > clock.now:
            clients[whose].caches.delete(name=name)
    server.engine.audit()
