"""A router follows a live server: its picture is what the cache can find."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zmq
from tests.cluster.conftest import Place, Publishing
from tests.cluster.listener import Listener
from tests.cluster.vllm_schema import BlockStored, decode

from headstart.cluster.kv_events import Wire, low_64_bits
from headstart.cluster.publisher import Publisher
from headstart.cluster.sockets import claim

Start = Callable[..., Publishing]
Listen = Callable[..., Listener]


def findable(live: Any) -> set[int]:
    """By the cache's own account, past everything that is told of it."""
    engine = live.engine
    with engine._lock:
        stored = engine._cache.findable()
    return {low_64_bits(key) for each in stored for key in each.keys}


def say(live: Any, seed: str, words: int = 30, key: str = "anything", **fields: Any) -> Any:
    prompt = " ".join(f"{seed}{number}" for number in range(words))
    answer = live.post(
        "/v1/completions", key, model="tiny", prompt=prompt, max_tokens=4, ignore_eos=True, **fields
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["usage"]


def snapshot(live: Any, key: str = "anything") -> Any:
    answer = live.get("/kv/snapshot", key)
    assert answer.status_code == 200, answer.text
    return answer.json()


def agrees(listener: Listener, live: Any) -> bool:
    return set(listener.catch_up().blocks) == findable(live) and not listener.lost


def test_dropped_batches_are_counted_in_the_metrics(start: Start, tmp_path: Path) -> None:
    def dropped() -> float:
        name = "headstart_kv_event_batches_dropped_total "
        (line,) = [each for each in live.get("/metrics").text.splitlines() if each.startswith(name)]
        return float(line.removeprefix(name))

    live = start().live
    say(live, "a")
    assert dropped() == 0
    private = Wire(medium="CPU", adapters={})
    publisher = Publisher(claim(f"ipc://{tmp_path}/e", None), private, waiting=0)
    try:
        live.engine.follow(publisher)
        say(live, "b")
        assert dropped() == publisher.dropped > 1
    finally:
        publisher.close()


def test_the_picture_is_what_can_be_found_after_traffic_and_a_reset(
    start: Start, listen: Listen
) -> None:
    live = start().live
    listener = listen()
    for round_ in range(3):
        for seed in ("a", "b"):
            say(live, seed, 30 + 10 * round_)
    assert agrees(listener, live)
    assert len(listener.blocks) > 10
    live.post("/cache/reset")
    listener.catch_up()
    assert not listener.blocks
    say(live, "a")
    assert agrees(listener, live)
    assert listener.blocks


def test_what_is_evicted_leaves_the_picture(start: Start, listen: Listen) -> None:
    live = start(kv_memory_bytes=320 << 10).live
    listener = listen()
    for seed in "abcdefgh":
        say(live, seed, 60)
        assert agrees(listener, live)
    assert live.engine.stats().cache.evicted_blocks > 0


def test_nothing_is_untold_while_a_step_overwrites_what_was_evicted(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    live: Any = start(kv_memory_bytes=320 << 10).live
    engine = live.engine
    run, untold = engine._runner.run, []

    def watched(slices: Any) -> Any:
        untold.extend(engine._cache.take_events())
        return run(slices)

    monkeypatch.setattr(engine._runner, "run", watched)
    for seed in "abcdefgh":
        say(live, seed, 60)
    assert engine.stats().cache.evicted_blocks > 0
    assert not untold


def test_a_snapshot_and_the_batches_behind_it_fit_together_after_something_expired(
    start: Start, listen: Listen
) -> None:
    live = start(cache_ttl=0.01).live
    listener = listen()
    say(live, "a")
    time.sleep(0.05)
    # A lookup finds that it has expired; no step has told of it yet.
    live.post("/cache/lookup", model="tiny", prompt="anything")
    listener.start_over(snapshot(live))
    assert not listener.blocks
    say(live, "b")
    assert agrees(listener, live)


def test_what_a_cancelled_request_leaves_is_in_the_picture(
    start: Start, listen: Listen, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    live = start().live
    listener = listen()
    with live.http() as http:
        body = {"model": "tiny", "prompt": "long " * 40, "max_tokens": 500, "ignore_eos": True}
        with http.stream("POST", "/v1/completions", json={**body, "stream": True}) as answer:
            next(answer.iter_lines())
    eventually(lambda: live.engine.stats().running == 0)
    eventually(lambda: agrees(listener, live))
    assert listener.blocks


def test_a_router_that_joins_late_or_restarts_takes_a_snapshot(
    start: Start, listen: Listen
) -> None:
    live = start().live
    say(live, "a")
    listener = listen()
    listener.start_over(snapshot(live))
    assert set(listener.blocks) == findable(live)
    say(live, "b")
    assert agrees(listener, live)


def test_a_router_whose_gap_cannot_be_replayed_starts_over(
    start: Start, place: Place, listen: Listen
) -> None:
    live = start(kv_events=None, kv_events_replay=None).live
    publisher = Publisher(claim(place.events, place.replay), Wire("CPU", {}), kept=2)
    try:
        live.engine.follow(publisher)
        for seed in "abcd":
            say(live, seed)
        listener = listen()
        listener.replay()
        assert listener.lost
        listener.start_over(snapshot(live))
        assert set(listener.blocks) == findable(live)
        assert agrees(listener, live)
    finally:
        publisher.close()


def test_following_an_engine_that_is_warm_already_begins_with_what_it_holds(
    start: Start, place: Place, listen: Listen
) -> None:
    live = start(kv_events=None, kv_events_replay=None).live
    say(live, "a")
    publisher = Publisher(claim(place.events, place.replay), Wire("CPU", {}))
    try:
        live.engine.follow(publisher)
        assert agrees(listen(), live)
    finally:
        publisher.close()


def test_a_snapshot_without_events_has_no_next_number(start: Start) -> None:
    live = start(kv_events=None, kv_events_replay=None).live
    say(live, "a")
    found = snapshot(live)
    assert found["next_seq"] is None
    assert (found["block_size"], found["medium"]) == (16, "CPU")
    hashes = {each for event in found["events"] for each in event["block_hashes"]}
    assert hashes == findable(live)


def test_whole_hashes_are_bytes_in_events_and_hex_in_snapshots(
    start: Start, listen: Listen
) -> None:
    live = start(kv_events_hashes="bytes").live
    listener = listen()
    say(live, "a")
    listener.catch_up()
    hashes = {each for event in snapshot(live)["events"] for each in event["block_hashes"]}
    assert {each.hex() for each in listener.blocks} == hashes
    assert {len(each) for each in listener.blocks} == {32}


def with_tenant(tmp_path: Path) -> dict[str, Any]:
    keys = tmp_path / "keys"
    keys.write_text("tenant-key acme-corporation\n")
    return {"api_key": "operator-key", "api_keys_file": str(keys)}


def told(live: Any, listener: Listener) -> tuple[bytes, list[BlockStored]]:
    """All bytes that left for a private prompt, and the blocks they told of."""
    say(live, "private", key="tenant-key", cache_salt="pepper-and-salt")
    listener.catch_up()
    stored = []
    for frame in listener.frames:
        if frame[:1] == b"\x93":
            stored += [e for e in decode(frame).events if isinstance(e, BlockStored)]
    assert stored
    body = live.get("/kv/snapshot", "operator-key").content
    return b"".join(listener.frames) + body, stored


def test_no_token_tenant_or_salt_is_told_by_default(
    start: Start, listen: Listen, tmp_path: Path
) -> None:
    live = start(**with_tenant(tmp_path)).live
    sent, stored = told(live, listen())
    assert b"acme" not in sent
    assert b"pepper" not in sent
    assert all(event.token_ids == [] and event.extra_keys is None for event in stored)
    events = snapshot(live, "operator-key")["events"]
    assert all(event["token_ids"] == [] and "extra_keys" not in event for event in events)


def test_tokens_tenants_and_salts_are_told_when_the_operator_asks(
    start: Start, listen: Listen, tmp_path: Path
) -> None:
    live = start(kv_events_tokens=True, **with_tenant(tmp_path)).live
    sent, stored = told(live, listen())
    assert b"acme-corporation" in sent
    assert b"pepper-and-salt" in sent
    ids = [token for event in stored for token in event.token_ids]
    assert live.codec.decode(ids).startswith("private0 private1 private2")
    assert len(ids) == sum(16 * len(event.block_hashes) for event in stored)


@pytest.mark.parametrize(("key", "status"), [("tenant-key", 403), ("wrong", 401)])
def test_a_snapshot_is_the_operators(start: Start, tmp_path: Path, key: str, status: int) -> None:
    live = start(**with_tenant(tmp_path)).live
    assert live.get("/kv/snapshot", key).status_code == status


def test_requests_are_answered_while_a_consumer_hangs(start: Start, place: Place) -> None:
    live = start().live
    context = zmq.Context()
    try:
        hung = context.socket(zmq.SUB)
        hung.set_hwm(1)
        hung.subscribe(b"")
        hung.connect(place.events)
        greedy = context.socket(zmq.DEALER)
        greedy.set_hwm(1)
        greedy.connect(place.replay)
        for _ in range(50):
            if greedy.poll(10, zmq.POLLOUT):
                greedy.send_multipart([b"", bytes(8)], zmq.NOBLOCK)
        for seed in "abcdef":
            say(live, seed)
    finally:
        context.destroy(linger=0)
    live.engine.audit()


def test_an_adapters_blocks_carry_its_name(
    start: Start,
    listen: Listen,
    tiny_checkpoint: Callable[..., Path],
    tiny_adapter: Callable[..., Path],
) -> None:
    adapter = str(tiny_adapter(tiny_checkpoint("llama")))
    live = start(loras=(("sql", adapter), ("twin", adapter))).live
    listener = listen()
    for model in ("tiny", "twin"):
        answer = live.post("/v1/completions", model=model, prompt="word " * 30, max_tokens=1)
        assert answer.status_code == 200, answer.text
    assert agrees(listener, live)
    names = {event.get("lora_name") for event in snapshot(live)["events"]}
    # Both names stand for the same weights: their KV is shared, and goes by the first.
    assert names == {None, "sql"}


def test_a_snapshot_is_json_a_strict_reader_takes(start: Start) -> None:
    live = start().live
    say(live, "a")
    body = msgspec.json.decode(live.get("/kv/snapshot").content)
    (event, *_) = body["events"]
    assert event["type"] == "BlockStored"
    assert body["next_seq"] > 0
    assert body["started"] > 0
