"""`POST /cache/lookup` tells why a prompt would reuse no more than it does."""

import time
from typing import Any

import pytest


@pytest.fixture(scope="module")
def live(start_real: Any) -> Any:
    """Its own: elsewhere other tests' prompts may begin like these."""
    return start_real()


def ids(seed: int, count: int) -> list[int]:
    return [3 + (seed * 37 + 13 * i + i * i) % 300 for i in range(count)]


def complete(live: Any, prompt: list[int], **fields: Any) -> Any:
    return live.client().completions.create(
        model="tiny", prompt=prompt, max_tokens=1, extra_body=fields
    )


def lookup(live: Any, prompt: list[int], **fields: Any) -> dict[str, Any]:
    response = live.post("/cache/lookup", tokens=prompt, **fields)
    assert response.status_code == 200, response.text
    found = response.json()
    assert isinstance(found, dict)
    return found


def test_a_prompt_without_relatives_was_never_seen(live: Any) -> None:
    found = lookup(live, ids(1, 40), cache_salt="without relatives")
    assert (found["reason"], found["at"]) == ("never_seen", 0)


def test_what_goes_on_behind_all_that_is_cached_was_never_seen_from_there(live: Any) -> None:
    complete(live, ids(2, 40))
    found = lookup(live, [*ids(2, 40), *ids(3, 30)])
    assert (found["reason"], found["at"], found["cached_tokens"]) == ("never_seen", 40, 40)


@pytest.mark.parametrize("at", [1, 15, 16, 17, 32, 39])
def test_a_prompt_that_leaves_what_is_cached_tells_the_token(live: Any, at: int) -> None:
    prompt = ids(10 + at, 48)
    complete(live, prompt)
    changed = [*prompt[:at], prompt[at] + 1, *prompt[at + 1 :]]
    found = lookup(live, changed)
    assert (found["reason"], found["at"], found["cached_tokens"]) == ("diverged", at, at)


def test_all_but_the_last_token_is_capped(live: Any) -> None:
    complete(live, ids(4, 40))
    found = lookup(live, ids(4, 40))
    assert (found["reason"], found["at"], found["cached_tokens"]) == ("capped", 39, 39)


def test_the_same_prompt_under_another_salt_names_the_salt(live: Any) -> None:
    complete(live, ids(5, 40), cache_salt="one")
    for salt in ("two", None):
        found = lookup(live, ids(5, 40), cache_salt=salt)
        assert (found["reason"], found["fields"]) == ("other_namespace", ["salt"])
        assert found["cached_tokens"] == 0


@pytest.mark.parametrize("policy", ["lru", "lfu"])
def test_after_a_flood_it_names_who_evicted_how_much_and_when(start_real: Any, policy: str) -> None:
    live = start_real(kv_memory_bytes=32 * (8 << 10), eviction_policy=policy)
    complete(live, ids(6, 100))
    for seed in range(100, 110):
        complete(live, ids(seed, 300))
    found = lookup(live, ids(6, 100))
    assert (found["reason"], found["at"], found["cached_tokens"]) == ("evicted", 0, 0)
    assert found["lost"]["by"] == policy
    assert found["lost"]["tokens"] == 96
    assert 0 <= found["lost"]["seconds_ago"] < 60


def test_what_was_not_used_in_time_is_expired(start_real: Any) -> None:
    live = start_real(cache_ttl=0.05)
    complete(live, ids(7, 48))
    time.sleep(0.1)
    found = lookup(live, ids(7, 48))
    assert (found["reason"], found["cached_tokens"]) == ("expired", 0)
    assert (found["lost"]["by"], found["lost"]["tokens"]) == ("ttl", 48)


def test_what_was_computed_again_is_not_lost_any_more(start_real: Any) -> None:
    live = start_real(kv_memory_bytes=32 * (8 << 10))
    complete(live, ids(8, 48))
    for seed in range(100, 104):
        complete(live, ids(seed, 300))
    assert lookup(live, ids(8, 48))["reason"] == "evicted"
    complete(live, ids(8, 48))
    found = lookup(live, [*ids(8, 48), 7, 8, 9])
    assert (found["reason"], found["at"], found["lost"]) == ("never_seen", 48, None)


def test_the_foretold_reason_is_that_of_the_request(live: Any) -> None:
    complete(live, ids(9, 40))
    for prompt in (ids(9, 40), [*ids(9, 20), *ids(90, 20)], [*ids(9, 40), 5]):
        foretold = lookup(live, prompt)
        answer = complete(live, prompt)
        report = live.get(f"/cache/explain/{answer.id}").json()
        assert {name: report[name] for name in foretold} == foretold


def test_without_a_cache_nothing_was_ever_seen(start_real: Any) -> None:
    live = start_real(prefix_cache=False)
    for _ in range(2):
        complete(live, ids(10, 40))
    found = lookup(live, ids(10, 40))
    assert (found["reason"], found["cached_tokens"]) == ("never_seen", 0)
