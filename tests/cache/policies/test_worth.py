"""`worth`: what it keeps of sessions, and what it doesn't keep for ever."""

import pytest
from tests.cache.build import acquired, namespace

from headstart.cache import Lease, PrefixCache, Visit
from headstart.cache.policies import worth
from headstart.cache.policies.sessions import Sessions
from headstart.cache.policies.worth import Worth


class Scene:
    """Requests one after the other, by sessions that give their names."""

    def __init__(self, blocks: int) -> None:
        self.policy = Worth()
        self.now = 0.0
        self.cache = PrefixCache(blocks, 4, policy=self.policy, clock=lambda: self.now)

    def ask(self, session: object, tokens: range | list[int], **hints: object) -> Lease:
        lease = acquired(self.cache, tokens)
        self.cache.publish(lease, tokens)
        visit = Visit(
            now=self.now,
            prompt_tokens=len(tokens),
            new_tokens=len(tokens) - lease.cached_tokens,
            session=session,  # type: ignore[arg-type]
            **hints,  # type: ignore[arg-type]
        )
        self.cache.release(lease, visit)
        self.cache.audit()
        self.now += 1.0
        return lease

    def cached(self, tokens: range | list[int]) -> int:
        chain = self.cache.chain(namespace())
        return self.cache.match(chain, [*tokens, 7_777]).cached_tokens


def test_a_session_that_said_it_is_over_goes_before_older_ones() -> None:
    scene = Scene(6)
    scene.ask("alive", range(100, 108))
    scene.ask("over", range(200, 208), ended=True)
    scene.ask("new", range(300, 312))
    assert (scene.cached(range(100, 108)), scene.cached(range(200, 208))) == (8, 4)


def test_an_evicted_node_keeps_no_tokens_in_memory_though_its_session_is_remembered() -> None:
    scene = Scene(8)
    lease = scene.ask("long", range(32))
    node = lease.node
    scene.ask("new", range(300, 332))
    assert scene.policy._sessions.get("long") is not None
    assert (node.parent, len(node.label), node.blocks, node.keys) == (None, 0, [], [])


def test_timers_of_what_waits_no_longer_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most sessions come once: a timer for each would fill the memory for days."""
    scene = Scene(8)
    scene.policy._sessions = Sessions(most=50)
    limit = 200
    scene.policy._most_timers = limit
    monkeypatch.setattr(worth, "MOST_TIMERS", limit)
    for number in range(2000):
        scene.ask(number, [number, number, number, number])
    assert len(scene.policy._timers) <= 2 * limit


def test_sessions_of_two_tenants_are_never_one() -> None:
    """A name is a pair: 'a/b' with 'c' isn't 'a' with 'b/c'."""
    sessions = Sessions()
    first = sessions.begin(("a/b", "c"))
    assert sessions.get(("a", "b/c")) is None
    assert sessions.get(("a/b", "c")) is first


def test_growing_older_at_once_is_growing_older_step_by_step() -> None:
    scenes = [Scene(64), Scene(64)]
    for scene in scenes:
        for number in range(5):
            scene.ask(f"s{number}", range(100 * number, 100 * number + 8))
            scene.now += 0.3 * number
    at_once, in_steps = scenes
    for step in range(1, 2001):
        in_steps.policy._advance(in_steps.now + step)
    at_once.policy._advance(at_once.now + 2000)
    one, other = (
        {key: kind._entered for key, kind in scene.policy._classes.items()} for scene in scenes
    )
    assert one == other
    prices = [[price for price, _ in s.policy._prices.values()] for s in scenes]
    assert sorted(prices[0]) == sorted(prices[1])
    order = [
        [bytes(leaf.label) for leaf in sorted(p, key=p.__getitem__)]
        for p in (scene.policy._prices for scene in scenes)
    ]
    assert order[0] == order[1]
