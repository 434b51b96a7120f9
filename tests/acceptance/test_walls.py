"""Issue 2, "done when" 5: tenants and salts are walls, and each wall has a door.

Every test that nothing is shared has its pair: what should be shared is (hit proof).
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from tests.failure_kinds.drive import load, prompt_of, served
from tests.server.conftest import Live

from headstart.model.load import LoadedModel

KEYS = "key-a alice\nkey-a2 alice\nkey-b bob\n"
OPERATOR = "key-op"
PROMPT = prompt_of(100)
REPEATED = len(PROMPT) - 1
"""What a repetition of PROMPT reuses: all but the token that it needs the logits of."""

MESSAGES: list[Any] = [
    {"role": "system", "content": "The cache keeps what was computed. " * 24},
    {"role": "user", "content": "What is the secret?"},
]


@pytest.fixture(scope="module")
def tiny(tiny_checkpoint: Callable[..., Path]) -> LoadedModel:
    return load(tiny_checkpoint("llama"))


@pytest.fixture
def start(tiny: LoadedModel, tmp_path: Path) -> Callable[..., Any]:
    """`start(**settings)`: a fresh server with Alice's, Bob's and the operator's keys."""
    keys = tmp_path / "keys"
    keys.write_text(KEYS)

    @contextmanager
    def fresh(**settings: Any) -> Iterator[Live]:
        with served(tiny, api_key=OPERATOR, api_keys_file=str(keys), **settings) as live:
            yield live

    return fresh


def complete(client: openai.OpenAI, prompt: list[int] = PROMPT, **fields: Any) -> Any:
    """A greedy completion by the official client."""
    wanted = {"model": "tiny", "max_tokens": 4, "temperature": 0.0, **fields}
    return client.completions.create(prompt=prompt, **wanted)


def hit(client: openai.OpenAI, prompt: list[int] = PROMPT, **fields: Any) -> int:
    """Cached tokens, as `usage` has them."""
    usage = complete(client, prompt, **fields).usage
    assert usage.prompt_tokens == len(prompt)
    cached = usage.prompt_tokens_details.cached_tokens
    assert isinstance(cached, int)
    return cached


def bearer(live: Live, key: str) -> httpx.Client:
    return live.http(headers={"authorization": f"Bearer {key}"})


# Tenants

UNIQUE = frozenset({"id", "created", "created_at", "completed_at"})
UNIQUE_HEADERS = frozenset({"date", "x-request-id", "request-id", "content-length"})


def comparable(value: Any) -> Any:
    """`value` without ids that are drawn and times."""
    if isinstance(value, dict):
        return {k: comparable(v) for k, v in value.items() if k not in UNIQUE}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return value


def differences(one: Any, other: Any, within: float, at: str = "") -> Iterator[str]:
    """Where the two differ; numbers with a fraction only count if they do by more than `within`."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], within, f"{at}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, within, f"{at}[{number}]")
    elif isinstance(one, float) and isinstance(other, float):
        if abs(one - other) > within:
            yield f"{at}: {one}, {other}"
    elif one != other:
        yield f"{at}: {one!r}, {other!r}"


GREEDY = {"model": "tiny", "temperature": 0, "max_tokens": 6}
CHAT = {**GREEDY, "messages": MESSAGES, "logprobs": True, "top_logprobs": 3}
STREAM = {**CHAT, "stream": True, "stream_options": {"include_usage": True}}
RESPONSE = {"model": "tiny", "temperature": 0, "max_output_tokens": 16, "input": MESSAGES}
TENANTS: list[tuple[str, str, Any]] = [
    ("GET", "/health", None),
    ("GET", "/v1/models", None),
    ("POST", "/tokenize", {"messages": MESSAGES}),
    ("POST", "/cache/lookup", {"messages": MESSAGES}),
    ("POST", "/v1/chat/completions", CHAT),
    ("POST", "/cache/lookup", {"messages": MESSAGES}),
    ("POST", "/v1/chat/completions", CHAT),
    ("POST", "/v1/chat/completions", STREAM),
    ("POST", "/v1/chat/completions", {**CHAT, "cache_salt": "s"}),
    ("POST", "/cache/lookup", {"tokens": PROMPT}),
    ("POST", "/v1/completions", {**GREEDY, "prompt": [PROMPT, PROMPT[:50]], "n": 2}),
    ("POST", "/cache/lookup", {"tokens": PROMPT, "cache_salt": "s"}),
    ("POST", "/v1/completions", {**GREEDY, "prompt": [5] * 2000}),
    ("POST", "/v1/chat/completions", {**CHAT, "model": "other"}),
    ("POST", "/v1/responses", RESPONSE),
    ("POST", "/v1/responses/input_tokens", {"model": "tiny", "input": MESSAGES}),
    ("GET", "/v1/responses/resp_of_nobody", None),
    ("POST", "/v1/responses", {**RESPONSE, "previous_response_id": "resp_of_nobody"}),
]
OPERATORS = [("GET", "/cache"), ("GET", "/metrics"), ("POST", "/cache/reset")]


def everything_seen(live: Live, key: str) -> list[Any]:
    """Status, headers and body of all that a tenant can ask for, most of it about one prompt."""
    with bearer(live, key) as http:
        return [seen(http.request(method, path, json=body)) for method, path, body in TENANTS]


def seen(response: httpx.Response) -> list[Any]:
    """A response without what differs between any two."""
    if response.headers["content-type"].startswith("text/event-stream"):
        frames = [frame.removeprefix("data: ") for frame in response.text.split("\n\n") if frame]
        assert frames.pop() == "[DONE]"
        data: Any = [json.loads(frame) for frame in frames]
    else:
        data = response.json()
    headers = {k: v for k, v in response.headers.items() if k not in UNIQUE_HEADERS}
    return [response.status_code, headers, comparable(data)]


@pytest.mark.parametrize(("deterministic", "within"), [(False, 1e-4), (True, 0.0)])
def test_all_that_a_tenant_can_see_is_what_it_would_see_alone(
    start: Any, deterministic: bool, within: float
) -> None:
    """ID-12 too: whatever Alice did and does with Bob's very prompt, Bob's world is the same.

    Other sequences in a step move log probabilities in their last bits; in deterministic mode not
    even there.
    """

    def unlike_alone(live: Live, key: str) -> list[str]:
        return list(differences(alone, everything_seen(live, key), within))

    with start(deterministic=deterministic) as live:
        alone = everything_seen(live, "key-b")
        assert unlike_alone(live, "key-b"), "a repetition hits, and that is seen"
    with start(deterministic=deterministic) as live:
        assert unlike_alone(live, "key-a") == []
        assert unlike_alone(live, OPERATOR) == []
        with live.client("key-a").chat.completions.create(
            model="tiny",
            messages=MESSAGES,
            max_tokens=500,
            stream=True,
            extra_body={"ignore_eos": True},
        ) as stream:
            next(iter(stream))
            assert unlike_alone(live, "key-b") == []
            assert live.engine.stats().running == 1, "Alice's stream has ended too early"


def test_what_sums_over_tenants_is_the_operators(start: Any) -> None:
    with start() as live:
        for key in ("key-a", "key-b", "key-a"):
            hit(live.client(key))
        with bearer(live, "key-b") as http:
            refused = [http.request(method, path).status_code for method, path in OPERATORS]
        assert refused == [403] * 3
        with bearer(live, OPERATOR) as http:
            total = http.get("/cache").json()["since_start"]
        assert (total["prompt_tokens"], total["hit_tokens"]) == (300, REPEATED)


def test_tenants_share_no_hit_and_a_tenant_hits_under_each_of_its_keys(start: Any) -> None:
    with start() as live:
        alice, alice2, bob, operator = (
            live.client(key) for key in ("key-a", "key-a2", "key-b", OPERATOR)
        )
        assert [hit(client) for client in (alice, bob, operator)] == [0, 0, 0]
        assert [hit(client) for client in (alice, alice2, bob, operator)] == [REPEATED] * 4
        answers = {complete(client).choices[0].text for client in (alice, bob, operator)}
        assert len(answers) == 1


def test_what_one_tenant_computes_saves_another_no_work(start: Any) -> None:
    """Time to first token can only tell of work that wasn't done; all of it is."""
    with start(max_batch_tokens=32) as live:

        def computed(key: str) -> int:
            before = live.engine.stats().prefill_tokens
            hit(live.client(key))
            return live.engine.stats().prefill_tokens - before

        assert computed("key-a") == len(PROMPT)
        assert computed("key-b") == len(PROMPT)
        assert computed("key-a") == len(PROMPT) - REPEATED


def test_tenants_that_ask_at_the_same_moment_do_not_wait_for_each_others_prefix(
    start: Any,
) -> None:
    """Single flight ends at the wall: 4 requests, 2 tenants, the prompt is computed twice."""
    long = prompt_of(800)
    with start(max_batch_tokens=32) as live:
        cached: list[int] = []
        clients = [live.client(key) for key in ("key-a", "key-b") * 2]
        threads = [
            threading.Thread(target=lambda c=c: cached.append(hit(c, long))) for c in clients
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(cached) == [0, 0, 799, 799]
        assert live.engine.stats().prefill_tokens == 2 * (800 + 1)


FORGERIES: list[dict[str, Any]] = [
    {"user": "alice"},
    {"extra_body": {"tenant": "alice"}},
    {"extra_body": {"cache_salt": "alice"}},
    {"extra_body": {"cache_salt": "\0alice"}},
    {"extra_body": {"api_key": "key-a"}},
    {"extra_body": {"prompt_cache_key": "alice", "safety_identifier": "alice"}},
    {"extra_body": {"metadata": {"tenant": "alice"}}},
    {"extra_query": {"tenant": "alice", "api_key": "key-a"}},
    {"extra_headers": {"OpenAI-Organization": "alice", "OpenAI-Project": "alice"}},
    {"extra_headers": {"X-Tenant": "alice", "X-Forwarded-User": "alice", "X-API-Key": "key-a"}},
]


def test_id_no_field_header_or_query_makes_a_client_another_tenant(start: Any) -> None:
    with start() as live:
        alice, bob = live.client("key-a"), live.client("key-b")
        for number, forgery in enumerate(FORGERIES):
            secret = [3 + number, *prompt_of(99, seed=number)]
            assert hit(alice, secret) == 0
            with bearer(live, "key-b") as http:
                body = {"tokens": secret, **forgery.get("extra_body", {})}
                guess = http.post("/cache/lookup", json=body).json()
            assert (guess["prompt_tokens"], guess["cached_tokens"]) == (100, 0), forgery
            assert hit(bob, secret, **forgery) == 0, forgery
            assert hit(alice, secret) == REPEATED


def test_a_refusal_for_a_full_queue_does_not_count_the_others_requests(start: Any) -> None:
    """ID: a counter in an error message is a counter too."""

    def refusal(waiting: int) -> str:
        with start(max_running=1, max_waiting=4) as live:
            # Not strict: OpenAI's own chunks have a null finish_reason, which its type denies.
            busy = live.client("key-a", strict=False).completions.create(
                model="tiny",
                prompt=PROMPT,
                max_tokens=800,
                n=1 + waiting,
                stream=True,
                extra_body={"ignore_eos": True},
            )
            with busy:
                next(iter(busy))
                with pytest.raises(openai.RateLimitError) as caught:
                    complete(live.client("key-b"), n=4)
                assert live.engine.stats().waiting == waiting
            return caught.value.message

    assert refusal(1) == refusal(3)


# Salts


def test_a_salt_is_a_wall_within_a_tenant_and_the_same_salt_its_door(start: Any) -> None:
    with start() as live:
        alice, bob = live.client("key-a"), live.client("key-b")

        def salted(client: openai.OpenAI, salt: str | None) -> int:
            return hit(client, extra_body={} if salt is None else {"cache_salt": salt})

        cold = [salted(alice, salt) for salt in (None, "s", "t", "s ", "S", "bob")]
        assert cold == [0] * 6
        assert salted(bob, "s") == 0, "a salt is no key to another tenant"
        assert [salted(alice, salt) for salt in (None, "s", "t")] == [REPEATED] * 3
        assert salted(bob, "s") == REPEATED
        with pytest.raises(openai.BadRequestError) as caught:
            salted(alice, "")
        assert caught.value.param == "cache_salt"
