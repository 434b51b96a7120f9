"""`/cache/pin`: prefixes that are given up last."""

import time
from pathlib import Path
from typing import Any

import pytest

BLOCK_BYTES = 8 << 10
"""Of the tiny model: 16 positions."""


def ids(seed: int, count: int) -> list[int]:
    return [3 + (seed * 37 + 13 * i + i * i) % 300 for i in range(count)]


def complete(live: Any, prompt: list[int], key: str = "anything") -> None:
    live.client(key).completions.create(model="tiny", prompt=prompt, max_tokens=1)


def cached(live: Any, prompt: list[int]) -> int:
    found = live.post("/cache/lookup", tokens=prompt).json()["cached_tokens"]
    assert isinstance(found, int)
    return found


def pin(live: Any, prompt: list[int], key: str = "anything", **fields: Any) -> dict[str, Any]:
    response = live.post("/cache/pin", key, tokens=prompt, **fields)
    assert response.status_code == 200, response.text
    pinned = response.json()
    assert isinstance(pinned, dict)
    return pinned


def pins(live: Any, key: str = "anything") -> list[dict[str, Any]]:
    found = live.get("/cache/pin", key).json()["pins"]
    assert isinstance(found, list)
    return found


def flood(live: Any) -> None:
    for seed in range(1000, 1010):
        complete(live, ids(seed, 200))


@pytest.fixture
def small(start_real: Any) -> Any:
    """A pool of 32 blocks, 512 tokens, all of which may be pinned."""
    return start_real(kv_memory_bytes=32 * BLOCK_BYTES, retention_budget_bytes=32 * BLOCK_BYTES)


@pytest.fixture(scope="module")
def walled(start_real: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("keys") / "keys"
    path.write_text("ka alice\nka2 alice\nkb bob\n")
    return start_real(api_key="op", api_keys_file=str(path))


def test_a_pin_tells_what_it_keeps_and_how_long(live: Any) -> None:
    prompt = ids(1, 40)
    complete(live, prompt)
    plain, told = pin(live, prompt), pin(live, prompt, ttl=7.5, priority=3)
    assert (plain["tokens"], plain["priority"], plain["ttl"]) == (40, 0, 300)
    assert (told["tokens"], told["priority"], told["ttl"]) == (40, 3, 7.5)
    assert 6 < told["expires_in"] <= 7.5
    assert live.delete(f"/cache/pin/{told['id']}").json() == {"id": told["id"], "deleted": True}
    assert pins(live) == []


def test_a_prefix_that_is_pinned_again_is_one_pin_with_the_new_promise(live: Any) -> None:
    prompt = ids(1, 40)
    complete(live, prompt)
    first, again = pin(live, prompt), pin(live, prompt, ttl=7.5, priority=3)
    assert again["id"] == first["id"]
    (only,) = pins(live)
    assert (only["id"], only["priority"], only["ttl"]) == (first["id"], 3, 7.5)
    live.delete(f"/cache/pin/{first['id']}")


def test_it_keeps_what_is_cached_of_a_longer_prompt(live: Any) -> None:
    complete(live, ids(2, 40))
    pinned = pin(live, [*ids(2, 40), *ids(3, 500)])
    assert pinned["tokens"] == 40
    live.delete(f"/cache/pin/{pinned['id']}")


def test_messages_and_text_can_be_pinned_as_they_are_asked(live: Any, words: Any) -> None:
    messages = words("pinned", 30)
    usage = (
        live.client().chat.completions.create(model="tiny", messages=messages, max_tokens=1).usage
    )
    pinned = live.post("/cache/pin", messages=messages).json()
    assert pinned["tokens"] == usage.prompt_tokens
    live.delete(f"/cache/pin/{pinned['id']}")


def test_a_prompt_of_which_nothing_is_cached_is_404(live: Any) -> None:
    response = live.post("/cache/pin", tokens=ids(4, 40), cache_salt="never used")
    assert response.status_code == 404
    error = response.json()["error"]
    assert (error["type"], error["code"]) == ("invalid_request_error", "not_cached")
    assert "/cache/warm" in error["message"]


def test_a_prompt_larger_than_the_budget_is_400_and_pins_nothing(start_real: Any) -> None:
    live = start_real(retention_budget_bytes=2 * BLOCK_BYTES)
    complete(live, ids(5, 64))
    response = live.post("/cache/pin", tokens=ids(5, 64))
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert pins(live) == []
    assert pin(live, ids(5, 32))["tokens"] == 32


def test_over_the_budget_the_pin_that_runs_out_first_goes(start_real: Any) -> None:
    live = start_real(retention_budget_bytes=4 * BLOCK_BYTES)
    for seed in (6, 7, 8):
        complete(live, ids(seed, 32))
    pin(live, ids(6, 32), ttl=100)
    pin(live, ids(7, 32), ttl=50)
    pin(live, ids(8, 32), ttl=200)
    assert sorted(each["ttl"] for each in pins(live)) == [100, 200]


def test_another_tenant_neither_sees_a_pin_nor_lets_it_go(walled: Any) -> None:
    prompt = ids(9, 40)
    complete(walled, prompt, "ka")
    pinned = pin(walled, prompt, "ka")
    for key in ("kb", "op"):
        assert pins(walled, key) == []
        response = walled.delete(f"/cache/pin/{pinned['id']}", key)
        assert response.status_code == 404
        assert response.json()["error"]["code"] == "no_such_pin"
    assert [each["id"] for each in pins(walled, "ka2")] == [pinned["id"]]
    assert walled.delete(f"/cache/pin/{pinned['id']}", "ka2").status_code == 200
    assert pins(walled, "ka") == []


def test_another_tenants_kv_cannot_be_pinned(walled: Any) -> None:
    prompt = ids(10, 40)
    complete(walled, prompt, "ka")
    assert walled.post("/cache/pin", "kb", tokens=prompt).status_code == 404


@pytest.mark.parametrize("number", ["0", "123456", "x", "9" * 5000])
def test_a_pin_that_is_not_there_is_404(live: Any, number: str) -> None:
    response = live.delete(f"/cache/pin/{number}")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "no_such_pin"


def test_a_pinned_prefix_survives_a_flood_that_evicts_all_else(small: Any) -> None:
    kept, given_up = ids(11, 96), ids(12, 96)
    complete(small, kept)
    complete(small, given_up)
    pinned = pin(small, kept)
    flood(small)
    assert cached(small, given_up) == 0
    assert cached(small, kept) == 95
    small.delete(f"/cache/pin/{pinned['id']}")
    flood(small)
    assert cached(small, kept) == 0


def test_a_pin_that_ran_out_protects_nothing(small: Any) -> None:
    prompt = ids(13, 96)
    complete(small, prompt)
    pin(small, prompt, ttl=0.05)
    time.sleep(0.1)
    assert pins(small) == []
    assert cached(small, prompt) == 95
    flood(small)
    assert cached(small, prompt) == 0


def test_a_use_of_the_whole_prefix_starts_its_time_anew_and_a_lookup_does_not(small: Any) -> None:
    prompt = ids(14, 96)
    complete(small, prompt)
    pin(small, prompt, ttl=100)
    time.sleep(0.5)  # More than a request takes on a busy machine.
    (before,) = pins(small)
    assert cached(small, prompt) == 95
    (asked,) = pins(small)
    assert asked["expires_in"] <= before["expires_in"] < 100
    complete(small, [*prompt, *ids(15, 20)])
    (after,) = pins(small)
    assert after["expires_in"] > before["expires_in"]


def test_when_only_pins_are_left_the_lowest_priority_goes(small: Any) -> None:
    """A pin stands in nobody's way: the request is served."""
    high, low = ids(16, 192), ids(17, 192)
    for prompt, priority in ((high, 5), (low, 1)):
        complete(small, prompt)
        pin(small, prompt, priority=priority)
    complete(small, ids(18, 300))
    assert cached(small, high) == 191
    assert cached(small, low) < 191


def test_a_reset_forgets_pins_too(small: Any) -> None:
    complete(small, ids(19, 40))
    pin(small, ids(19, 40))
    small.post("/cache/reset")
    assert pins(small) == []
    assert cached(small, ids(19, 40)) == 0
