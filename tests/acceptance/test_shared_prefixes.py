"""Tenants are walls, and a declared prefix is the one door (design law 10), over HTTP."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.failure_kinds.drive import load, prompt_of, served
from tests.server.conftest import Live

from headstart.model.load import LoadedModel

OPERATOR = "key-op"
SYSTEM = {"role": "system", "content": "You are the help desk of a library. " * 12}
SHARED = prompt_of(100)
"""Six blocks of 16, and four tokens more."""
WHOLE = 96


@pytest.fixture(scope="module")
def tiny(tiny_checkpoint: Callable[..., Path]) -> LoadedModel:
    return load(tiny_checkpoint("llama"))


@pytest.fixture
def start(tiny: LoadedModel, tmp_path: Path) -> Callable[..., Any]:
    """`start(*declared, **settings)`: a server with Alice's, Bob's and the operator's keys."""
    keys, file = tmp_path / "keys", tmp_path / "shared.jsonl"
    keys.write_text("key-a alice\nkey-b bob\n")

    @contextmanager
    def fresh(*declared: Any, **settings: Any) -> Iterator[Live]:
        file.write_text("\n".join(map(json.dumps, declared)))
        settings["shared_prefixes"] = str(file)
        with served(tiny, api_key=OPERATOR, api_keys_file=str(keys), **settings) as live:
            yield live

    return fresh


def complete(live: Live, key: str, prompt: Any, **fields: Any) -> Any:
    body = {"model": "tiny", "prompt": prompt, "max_tokens": 4, "temperature": 0.0, **fields}
    answer = live.post("/v1/completions", key, **body)
    assert answer.status_code == 200, answer.text
    return answer


def hit(live: Live, key: str, prompt: Any, **fields: Any) -> int:
    usage = complete(live, key, prompt, **fields).json()["usage"]
    cached: int = usage["prompt_tokens_details"]["cached_tokens"]
    return cached


def chat_hit(live: Live, key: str, *messages: Any, **fields: Any) -> int:
    answer = live.post(
        "/v1/chat/completions", key, model="tiny", messages=messages, max_tokens=4, **fields
    )
    assert answer.status_code == 200, answer.text
    cached: int = answer.json()["usage"]["prompt_tokens_details"]["cached_tokens"]
    return cached


@pytest.mark.parametrize("index", ["radix", "hash"])
def test_two_tenants_share_exactly_the_declared_blocks(start: Any, index: str) -> None:
    with start({"tokens": SHARED}, prefix_index=index) as live:
        prompt = [*SHARED, *prompt_of(60, 1)]
        assert hit(live, "key-a", prompt) == 0
        assert hit(live, "key-b", prompt) == WHOLE
        assert hit(live, "key-b", prompt) == len(prompt) - 1
        assert hit(live, OPERATOR, prompt) == WHOLE


def test_what_a_tenant_is_answered_is_what_it_would_be_by_itself(start: Any) -> None:
    prompt = [*SHARED, *prompt_of(20, 2)]
    texts = set()
    for others in ([], ["key-b"]):
        with start({"tokens": SHARED}) as live:
            for other in others:
                complete(live, other, [*SHARED, *prompt_of(20, 3)])
            texts.add(complete(live, "key-a", prompt).json()["choices"][0]["text"])
    assert len(texts) == 1


@pytest.mark.parametrize("at", [0, 50, WHOLE - 1])
def test_one_other_token_in_the_declared_part_shares_nothing(start: Any, at: int) -> None:
    with start({"tokens": SHARED}) as live:
        complete(live, "key-a", [*SHARED, 5])
        other = [*SHARED, 5]
        other[at] = (other[at] + 1) % 300 + 3
        assert hit(live, "key-b", other) == 0
        assert hit(live, OPERATOR, SHARED[: WHOLE - 1]) == 0
        assert hit(live, "key-b", SHARED[:WHOLE]) == WHOLE - 1


def test_a_salt_shares_nothing(start: Any) -> None:
    with start({"tokens": SHARED}) as live:
        complete(live, "key-a", SHARED)
        assert hit(live, "key-b", SHARED, cache_salt="mine") == 0
        assert hit(live, "key-a", SHARED, cache_salt="mine") == 0
        assert hit(live, "key-b", SHARED) == WHOLE


def test_a_declared_system_prompt_is_shared_by_conversations(start: Any) -> None:
    """Rendered by the model's own template, it is a prefix of what clients really send."""
    with start({"messages": [SYSTEM]}) as live:
        ask = [{"role": "user", "content": each} for each in ("Opening hours?", "Fines?")]
        assert chat_hit(live, "key-a", SYSTEM, ask[0]) == 0
        shared = chat_hit(live, "key-b", SYSTEM, ask[1])
        content = live.post("/tokenize", "key-b", model="tiny", prompt=SYSTEM["content"]).json()
        assert content["count"] - 16 < shared < content["count"] + 24
        assert shared % 16 == 0
        other = {**SYSTEM, "content": "Y" + SYSTEM["content"]}
        assert chat_hit(live, "key-b", other, ask[1]) == 0


def test_nothing_else_can_be_asked_of_another_tenant(start: Any) -> None:
    with start({"tokens": SHARED}) as live:
        prompt = [*SHARED, *prompt_of(60, 1)]
        answer = complete(live, "key-a", prompt)
        looked = live.post("/cache/lookup", "key-b", tokens=prompt).json()
        assert (looked["cached_tokens"], looked["reason"]) == (WHOLE, "never_seen")
        assert looked["at"] == WHOLE
        assert live.get("/cache/tree", "key-b").json() == {"nodes": []}
        (own,) = live.get("/cache/tree", "key-a").json()["nodes"][:1]
        assert (own["begin"], own["tenant"]) == (WHOLE, "alice")
        every = live.get("/cache/tree", OPERATOR).json()["nodes"]
        assert {node["tenant"] for node in every} == {"alice", "shared prefixes"}
        assert live.get(f"/cache/explain/{answer.json()['id']}", "key-b").status_code == 404
        pinned = live.post("/cache/pin", "key-b", tokens=prompt).json()
        assert pinned["tokens"] == WHOLE
        assert live.get("/cache/pin", "key-a").json() == {"pins": []}


def test_a_verified_hit_on_what_is_shared_is_right(start: Any) -> None:
    with start({"tokens": SHARED}, verify_hits=1.0) as live:
        for number, key in enumerate(("key-a", "key-b", "key-a", "key-b")):
            complete(live, key, [*SHARED, *prompt_of(20, number)])
            deadline = time.monotonic() + 10
            while live.engine.stats().verified.hits < number:
                assert time.monotonic() < deadline, "a hit was not verified"
                time.sleep(0.01)
        verified = live.engine.stats().verified
        assert (verified.hits, verified.wrong) == (3, 0)
        assert verified.tokens >= 3 * WHOLE


def test_what_is_shared_comes_back_from_the_disk_of_whoever_kept_it(
    start: Any, tmp_path: Path
) -> None:
    """Each tenant's tier copy is its own; what one brings up of the declared part is for all."""
    prompt = [*SHARED, *prompt_of(156, 1)]
    with start({"tokens": SHARED}, disk=str(tmp_path / "kv")) as live:
        complete(live, "key-a", prompt)
    with start({"tokens": SHARED}, disk=str(tmp_path / "kv")) as live:
        assert hit(live, "key-a", prompt) == 255
        assert hit(live, "key-b", prompt) == WHOLE
    with start({"tokens": SHARED}, disk=str(tmp_path / "kv")) as live:
        assert hit(live, "key-b", [*prompt[:-1], 7]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("write", ["through", "back"])
@pytest.mark.parametrize("index", ["radix", "hash"])
def test_after_a_restart_each_tenant_finds_its_own_chunks_within_over_and_behind_the_gate(
    start: Any, tmp_path: Path, index: str, write: str
) -> None:
    """Chunks of 256 tokens, and 288 that are shared. Every hit is computed again."""
    declared = prompt_of(300)
    how = {"disk": str(tmp_path / "kv"), "tier_write": write, "prefix_index": index}
    prompts = {key: [*declared, *prompt_of(480, len(key))] for key in ("key-a", OPERATOR)}
    with start({"tokens": declared}, **how) as live:
        for key, prompt in prompts.items():
            complete(live, key, prompt)
    with start({"tokens": declared}, verify_hits=1.0, **how) as live:
        assert [hit(live, key, prompt) for key, prompt in prompts.items()] == [768, 768]
        deadline = time.monotonic() + 10
        while live.engine.stats().verified.hits < 2:
            assert time.monotonic() < deadline, "a hit was not verified"
            time.sleep(0.01)
        assert live.engine.stats().verified.wrong == 0
        loaded = live.engine.stats().loaded_tokens
        assert loaded == {"disk": 768 + 768 - 288}


def test_a_reset_forgets_what_is_shared_too(start: Any) -> None:
    with start({"tokens": SHARED}) as live:
        complete(live, "key-a", SHARED)
        live.post("/cache/reset", OPERATOR)
        assert hit(live, "key-b", SHARED) == 0
        assert hit(live, "key-a", SHARED) == WHOLE
