from dataclasses import replace

from headstart.insight.replay.fleet import Fleet
from headstart.insight.replay.pool import Setup
from headstart.insight.replay.replay import run
from headstart.insight.replay.request import Request


def ask(*blocks: int, session: str | None = None) -> Request:
    return Request(0.0, session, None, None, blocks, 16 * len(blocks), 0, 16)


def lru(capacity: int) -> Setup:
    return Setup("lru", capacity, longest=8)


A, B, C = ask(1, 2, session="a"), ask(3, 4, session="b"), ask(5, 6, session="c")


def test_a_tier_finds_what_the_pool_has_given_up() -> None:
    fleet = Fleet([lru(2), lru(4), lru(100)])
    added = [fleet.serve(each) for each in (A, B, A, C, B, ask(5, 6, 7))]
    assert added == [[0, 0, 0], [0, 0, 0], [0, 32, 0], [0, 0, 0], [0, 0, 32], [0, 32, 0]]


def test_with_requests_in_turn_a_replica_misses_what_its_neighbour_has() -> None:
    (outcome,) = run([A, A, A, A], [Fleet([lru(8)], replicas=2, route="round-robin")])
    assert (outcome.hit_tokens, outcome.loads) == (64, (32, 32))


def test_a_session_stays_with_its_replica() -> None:
    (outcome,) = run([A, B, C] * 3, [Fleet([lru(8)], replicas=2, route="session")])
    assert outcome.hit_tokens == 6 * 32


def test_the_prefix_route_goes_where_least_is_left_to_compute() -> None:
    (outcome,) = run(
        [A, B, ask(1, 2, 9), ask(3, 4, 9)], [Fleet([lru(8)], replicas=2, route="prefix")]
    )
    assert (outcome.hit_tokens, outcome.loads) == (64, (48, 48))


def test_a_prefix_that_all_share_does_not_draw_all_to_one_replica() -> None:
    """Two of three blocks are shared: one replica alone would compute twice what it saves."""
    requests = [ask(1, 2, 100 + n) for n in range(20)]
    (outcome,) = run(requests, [Fleet([lru(80)], replicas=2, route="prefix")])
    assert max(outcome.loads) <= 0.6 * sum(outcome.loads)
    assert outcome.hit_tokens == 18 * 32


def test_a_prefix_that_has_expired_draws_no_request() -> None:
    fleet = Fleet([replace(lru(8), ttl=60)], replicas=2, route="prefix")
    a_moment_later, an_hour_later = (replace(ask(1, 2, 3), time_s=at) for at in (1.0, 3600.0))
    for request in (ask(7), A, a_moment_later, an_hour_later):
        fleet.serve(request)
    assert [each.load for each in fleet.replicas] == [16 + 48, 32 + 16]


def test_what_all_replicas_share_serves_where_the_own_pool_misses() -> None:
    fleet = Fleet([lru(8)], replicas=2, route="round-robin", shared=lru(8))
    assert [fleet.serve(A), fleet.serve(A)] == [[0, 0], [0, 32]]


def test_a_request_longer_than_the_pool_is_refused_as_a_server_does() -> None:
    fleet = Fleet([Setup("lru", 4)])
    (outcome,) = run([ask(*range(9)), A, A], [fleet])
    assert (outcome.refused, outcome.hit_tokens) == (1, 32)
