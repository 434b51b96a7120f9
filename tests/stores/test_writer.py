"""The thread behind a tier's queue."""

from tests.stores.build import NEVER, SPACE, chain
from tests.stores.tiering import LONG, Rig, rig

from headstart.stores import Record
from headstart.stores.errors import Full
from headstart.stores.tiers import LARGEST_QUEUE
from headstart.stores.writer import Writer

FIVE = chain(5)


def writer_of(r: Rig) -> Writer:
    (writer,) = r.tiers.writers
    return writer


def known(r: Rig) -> list[bool]:
    return [writer_of(r).has(one.key) for one in FIVE]


def test_the_queues_of_all_tiers_together_hold_no_more_than_told() -> None:
    with rig("near", "far") as r:
        for tier in r.tier.values():
            tier.write.took(1.0, 10**12, r.clock.now)
        assert sum(writer._intake.bound for writer in r.tiers.writers) == LARGEST_QUEUE


def test_how_long_writes_take_decides_how_many_may_wait() -> None:
    with rig("near") as r:
        r.takes("near", "put", 0.5)
        r.store_all(FIVE)
        assert writer_of(r)._intake.bound == 5 / 0.5 * len(FIVE[0].payload)


def test_what_was_put_is_known_until_the_tier_declines_it() -> None:
    with rig("near") as r:
        r.store_all(FIVE[:2])
        r.store["near"].error = Full("no room")
        r.store_all(FIVE[2:3])
        assert known(r) == [True, True, False, False, False]
        assert r.events() == {"near_queued": 3, "near_declined": 1}
        assert writer_of(r).declines


def test_what_continues_a_declined_chunk_is_declined_unseen() -> None:
    with rig("near") as r:
        seen: list[Record] = []
        put = r.store["near"].store.put

        def second_fails(record: Record, *, deadline: float) -> bool:
            seen.append(record)
            return record.key != FIVE[1].key and put(record, deadline=deadline)

        r.store["near"].store.put = second_fails  # type: ignore[method-assign]
        r.store_all(FIVE)
        assert seen == FIVE[:2]
        assert known(r) == [True, False, False, False, False]
        assert r.events() == {"near_queued": 5, "near_declined": 4}


def test_what_does_not_come_in_order_is_written_without_what_it_continues() -> None:
    with rig("near") as r:
        for record in reversed(FIVE):
            writer_of(r).put(record, in_order=False)
        r.drained()
        assert len(r.load(FIVE)[0]) == 5


def test_what_came_up_is_known_to_its_tier_and_those_behind_it() -> None:
    with rig("near", "middle", "far") as r:
        r.put("middle", FIVE[:3])
        r.load(FIVE)
        r.drained()
        near, middle, far = ([w.has(one.key) for one in FIVE] for w in r.tiers.writers)
        assert near == middle == far == [True, True, True, False, False]
        assert r.store["far"].seen.count("put") == 0


def test_what_a_tier_is_found_to_have_lost_is_known_no_longer() -> None:
    with rig("near") as r:
        r.store_all(FIVE)
        r.store["near"].store.delete(SPACE, FIVE[2].key, deadline=NEVER)
        assert len(r.load(FIVE)[0]) == 2
        assert known(r) == [True, True, False, True, True]


def test_what_breaks_while_it_is_read_is_known_no_longer() -> None:
    with rig("near") as r:
        r.store_all(FIVE)
        r.store["near"].hooks["get"] = lambda: r.store["near"].store.delete(
            SPACE, FIVE[0].key, deadline=NEVER
        )
        assert r.load(FIVE) == ([], True)
        assert known(r) == [False, True, True, True, True]


def test_a_tier_that_does_not_answer_in_time_has_lost_nothing() -> None:
    with rig("near") as r:
        r.store_all(FIVE)
        r.takes("near", "look", LONG)
        assert not r.load(FIVE)[0]
        assert known(r) == [True] * 5
