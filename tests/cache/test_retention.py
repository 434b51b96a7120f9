"""Pins: what they protect, for how long, within which budget, and that they starve nobody."""

import pytest
from tests.cache.build import acquired, namespace, stored
from tests.cache.kept import Kept

from headstart.cache import OverBudget, PrefixCache
from headstart.cache.retention import MOST_PINS


def test_what_is_pinned_outlives_what_was_used_later(index: str) -> None:
    kept = Kept(6, index)
    kept.store(range(8))
    kept.pin(range(8))
    kept.store(range(50, 58))
    kept.flood(4)
    assert (kept.cached(range(8)), kept.cached(range(50, 58))) == (8, 0)


def test_nothing_cached_is_nothing_to_pin(index: str) -> None:
    kept = Kept(4, index)
    kept.store(range(8))
    chain = kept.cache.chain(namespace())
    assert kept.cache.pin(chain, range(50, 58), ttl=1) is None
    assert kept.cache.pin(chain, [], ttl=1) is None
    assert kept.live() == []


def test_a_pin_says_what_it_keeps_and_until_when(index: str) -> None:
    kept = Kept(8, index)
    kept.store(range(8))
    kept.now = 5.0
    pin = kept.pin(range(30), ttl=10.0, priority=2)
    assert (pin.tenant, pin.tokens, pin.priority, pin.until) == ("acme", 8, 2, 15.0)
    assert kept.live() == [pin]


def test_a_pin_in_the_middle_of_what_is_cached_keeps_no_more_than_that(index: str) -> None:
    kept = Kept(6, index)
    kept.store(range(20))
    assert kept.pin(range(8)).tokens == 8
    kept.flood(4)
    assert kept.cached(range(20)) == 8


def test_a_pin_that_ends_inside_a_block_keeps_that_block(index: str) -> None:
    kept = Kept(6, index)
    kept.store(range(20))
    assert kept.pin(range(6)).tokens == 6
    kept.flood(4)
    assert kept.cached(range(20)) == 8


def test_a_pin_keeps_a_partly_filled_block(index: str) -> None:
    kept = Kept(6, index)
    kept.store(range(6), tail=True)
    assert kept.pin(range(6)).tokens == 6
    kept.flood(4)
    assert kept.cached(range(6)) == 6


def test_a_pinned_tail_stays_though_something_says_the_same_and_more(index: str) -> None:
    """What covers it may be evicted; the promise was made for the tail."""
    kept = Kept(6, index)
    kept.store(range(6), tail=True)
    pin = kept.pin(range(6))
    kept.store(range(8))
    assert kept.cache.cached == 3
    kept.flood(4)
    assert kept.cached(range(8)) == 6
    kept.store(range(8))
    kept.unpin(pin)
    assert kept.cache.cached == 2, "a tail of no use any more"


def test_a_tail_that_its_owner_still_fills_is_not_pinned_but_what_lies_before_it(
    index: str,
) -> None:
    kept = Kept(6, index)
    lease = acquired(kept.cache, range(6))
    kept.cache.publish(lease, range(6), tail=True)
    assert kept.pin(range(6)).tokens == 4
    kept.cache.grow(lease, 9)
    kept.cache.publish(lease, range(9))
    kept.cache.audit()
    kept.cache.release(lease)
    kept.flood(5)
    assert kept.cached(range(9)) == 4


def test_a_pin_survives_that_others_branch_off_below_and_above_its_end(index: str) -> None:
    kept = Kept(12, index)
    kept.store(range(16))
    pin = kept.pin(range(12))
    kept.store([*range(4), 70, 71, 72, 73])
    kept.store([*range(8), 80, 81, 82, 83])
    kept.store([*range(12), 90, 91, 92, 93])
    assert kept.live() == [pin]
    kept.flood(9)
    assert kept.cached(range(16)) == 12
    assert kept.cache.cached == 3


def test_a_held_prefix_can_be_pinned_and_is_kept_when_it_is_let_go(index: str) -> None:
    kept = Kept(6, index)
    lease = acquired(kept.cache, range(9))
    kept.cache.publish(lease, range(9))
    kept.pin(range(8))
    kept.cache.release(lease)
    kept.store(range(50, 58))
    kept.flood(4)
    assert kept.cached(range(8)) == 8


def test_a_conversation_that_goes_on_behind_its_pin_is_not_kept_further(index: str) -> None:
    kept = Kept(8, index)
    lease = acquired(kept.cache, range(8))
    kept.cache.publish(lease, range(8))
    kept.pin(range(8))
    assert kept.cache.grow(lease, 16)
    kept.cache.publish(lease, range(16))
    kept.cache.release(lease)
    kept.flood(6)
    assert kept.cached(range(16)) == 8


def test_a_pin_runs_out_by_the_clock(index: str) -> None:
    kept = Kept(4, index)
    kept.store(range(8))
    pin = kept.pin(range(8), ttl=10.0)
    kept.now = 9.9
    assert kept.live() == [pin]
    kept.now = 10.0
    assert kept.live() == []
    assert kept.cached(range(8)) == 8, "it is an ordinary prefix again, not a forgotten one"
    kept.store(range(50, 58))
    kept.flood(2)
    assert kept.cached(range(8)) == 0


def test_a_pin_runs_out_though_nobody_asks_for_pins(index: str) -> None:
    kept = Kept(4, index)
    kept.store(range(8))
    kept.pin(range(8), ttl=10.0)
    kept.store(range(50, 58))
    kept.now = 10.0
    kept.flood(2)
    assert (kept.cached(range(8)), kept.cached(range(50, 58))) == (0, 8)


def test_a_use_of_the_whole_prefix_starts_its_time_anew(index: str) -> None:
    kept = Kept(8, index)
    kept.store(range(8))
    pin = kept.pin(range(8), ttl=10.0)
    for kept.now in (6.0, 12.0, 18.0):
        kept.store([*range(8), int(kept.now)])
    assert pin.until == 28.0
    kept.now = 27.0
    assert kept.live() == [pin]
    kept.now = 28.0
    assert kept.live() == []


def test_a_use_of_the_pinned_prompt_itself_starts_its_time_anew(index: str) -> None:
    """Though its last token is computed again."""
    kept = Kept(8, index)
    kept.store(range(8))
    pin = kept.pin(range(8), ttl=10.0)
    kept.now = 6.0
    kept.store(range(8))
    assert pin.until == 16.0


@pytest.mark.parametrize("used", [2, 4, 6, 8, 10])
def test_a_use_of_a_part_of_the_prefix_does_not_refresh_the_pin(index: str, used: int) -> None:
    kept = Kept(16, index)
    kept.store(range(20))
    pin = kept.pin(range(12), ttl=10.0)
    kept.now = 6.0
    kept.store([*range(used), 99, 98, 97])
    assert pin.until == 10.0


@pytest.mark.parametrize("used", [5, 6])
def test_the_pin_of_a_tail_is_refreshed_by_the_whole_of_it_only(index: str, used: int) -> None:
    kept = Kept(16, index)
    kept.store(range(6), tail=True)
    pin = kept.pin(range(6), ttl=10.0)
    kept.now = 6.0
    kept.store([*range(used), 99, 98, 97])
    assert pin.until == (16.0 if used == 6 else 10.0)


def test_every_use_of_a_tail_refreshes_its_pin_whatever_follows(index: str) -> None:
    """The first to go on from it leaves a block that begins the same."""
    kept = Kept(40, index)
    kept.store(range(6), tail=True)
    pin = kept.pin(range(6), ttl=10.0)
    for kept.now, follows in [(6.0, 50), (12.0, 99), (18.0, 3), (24.0, 75), (30.0, 60)]:
        kept.store([*range(6), follows, follows, follows])
        assert pin.until == kept.now + 10.0


def test_with_units_of_whole_blocks_a_repeat_of_the_pinned_prompt_refreshes_it(index: str) -> None:
    kept = Kept(8, index, reuse_unit=4)
    kept.store(range(8))
    pin = kept.pin(range(8), ttl=10.0)
    kept.now = 6.0
    kept.store(range(8))
    assert pin.until == 16.0


def test_looking_and_touching_do_not_refresh_a_pin(index: str) -> None:
    kept = Kept(8, index)
    kept.store(range(8))
    pin = kept.pin(range(8), ttl=10.0)
    kept.now = 6.0
    kept.cached(range(8))
    kept.cache.touch(kept.cache.chain(namespace()), range(9))
    kept.cache.audit()
    assert pin.until == 10.0


def test_a_pin_larger_than_the_budget_is_refused_and_changes_nothing(index: str) -> None:
    kept = Kept(8, index, retention_budget=2)
    kept.store(range(12))
    first = kept.pin(range(8))
    with pytest.raises(OverBudget):
        kept.pin(range(12))
    kept.cache.audit()
    assert kept.live() == [first]
    kept.flood(8)
    assert kept.cached(range(12)) == 0


def test_half_of_the_pool_may_be_pinned_unless_told_otherwise(index: str) -> None:
    kept = Kept(9, index)
    kept.store(range(20))
    kept.pin(range(16))
    with pytest.raises(OverBudget):
        kept.pin(range(20))


def test_over_the_budget_the_lowest_priority_goes_first(index: str) -> None:
    kept = Kept(10, index, retention_budget=2)
    for number in range(3):
        kept.store([number] * 4)
    low = kept.pin([0] * 4, priority=1, ttl=100.0)
    high = kept.pin([1] * 4, priority=2, ttl=1.0)
    third = kept.pin([2] * 4, priority=3, ttl=1.0)
    assert kept.live() == [high, third]
    assert low not in kept.live()


def test_over_the_budget_and_of_one_priority_what_runs_out_first_goes_first(index: str) -> None:
    kept = Kept(10, index, retention_budget=2)
    for number in range(3):
        kept.store([number] * 4)
    long = kept.pin([0] * 4, ttl=30.0)
    kept.pin([1] * 4, ttl=10.0)
    third = kept.pin([2] * 4, ttl=20.0)
    assert kept.live() == [long, third]


def test_as_many_pins_go_as_the_new_one_needs_room(index: str) -> None:
    kept = Kept(12, index, retention_budget=4)
    for number in range(4):
        kept.store([number] * 4)
        kept.pin([number] * 4, ttl=10.0 + number)
    kept.store(range(50, 62))
    new = kept.pin(range(50, 62), ttl=50.0)
    assert [pin.until for pin in kept.live()] == [13.0, 50.0]
    assert kept.live()[-1] is new


def test_a_new_pin_that_would_be_the_weakest_is_refused(index: str) -> None:
    kept = Kept(10, index, retention_budget=2)
    for number in range(3):
        kept.store([number] * 4)
    strong = [kept.pin([number] * 4, priority=5) for number in range(2)]
    with pytest.raises(OverBudget, match="stronger"):
        kept.pin([2] * 4, priority=0)
    assert kept.live() == strong


def test_pinning_a_prefix_again_renews_its_pin(index: str) -> None:
    """Else a client that pins every minute would fill the memory with promises."""
    kept = Kept(10, index)
    kept.store(range(8))
    first = kept.pin(range(8), ttl=10.0)
    kept.now = 9.0
    for _ in range(200):
        assert kept.pin(range(8), ttl=10.0, priority=3) is first
    kept.now = 18.0
    assert kept.live() == [first]
    assert (first.priority, first.until) == (3, 19.0)
    assert len(kept.cache._tree.retention._expiry) < 100
    assert kept.pin(range(8), ttl=0.5) is first
    kept.now = 18.6
    assert kept.live() == []


def test_a_tenant_may_pin_only_so_many_prefixes(index: str) -> None:
    blocks = MOST_PINS + 2
    cache = PrefixCache(blocks, 4, index=index, retention_budget=blocks)
    tokens = range(4 * blocks)
    stored(cache, tokens)
    for count in range(1, MOST_PINS + 1):
        cache.pin(cache.chain(namespace()), tokens[: 4 * count], ttl=9.0)
    with pytest.raises(OverBudget, match="already"):
        cache.pin(cache.chain(namespace()), tokens, ttl=9.0)
    cache.audit()


def test_a_block_under_several_pins_counts_once(index: str) -> None:
    kept = Kept(12, index, retention_budget=4)
    kept.store(range(16))
    kept.store([*range(8), 70, 71, 72, 73])
    pins = [kept.pin(range(8)), kept.pin(range(12)), kept.pin([*range(8), 70, 71, 72, 73])]
    assert kept.live() == pins


def test_a_tenants_pins_do_not_count_against_another_tenant(index: str) -> None:
    kept, globex = Kept(12, index, retention_budget=2), namespace(tenant="globex")
    kept.store(range(8))
    kept.store(range(8), globex)
    mine, theirs = kept.pin(range(8)), kept.pin(range(8), space=globex)
    assert (kept.live(), kept.live("globex")) == ([mine], [theirs])
    kept.store(range(50, 58))
    other = kept.pin(range(50, 58), priority=1)
    assert (kept.live(), kept.live("globex")) == ([other], [theirs])


def test_the_namespaces_of_a_tenant_share_its_budget(index: str) -> None:
    kept, salted = Kept(12, index, retention_budget=2), namespace(salt="pepper")
    kept.store(range(8))
    kept.store(range(8), salted)
    kept.pin(range(8), ttl=10.0)
    later = kept.pin(range(8), ttl=20.0, space=salted)
    assert kept.live() == [later]


@pytest.mark.parametrize("wanted", range(1, 9))
def test_a_request_always_gets_room_whatever_is_pinned(index: str, wanted: int) -> None:
    kept = Kept(8, index, retention_budget=8)
    for number in range(4):
        kept.store([number] * 8)
        kept.pin([number] * 8, priority=number)
    assert kept.cache.available == 8
    kept.flood(wanted)


def test_where_only_pinned_is_left_the_lowest_priority_goes_first(index: str) -> None:
    kept = Kept(6, index, retention_budget=6)
    for number, priority in enumerate([2, 1, 3]):
        kept.store([number] * 8)
        kept.pin([number] * 8, priority=priority, ttl=100.0 - priority)
    kept.flood(2)
    assert [kept.cached([number] * 8) for number in range(3)] == [8, 0, 8]
    kept.flood(4)
    assert [kept.cached([number] * 8) for number in range(3)] == [0, 0, 8]
    assert [pin.priority for pin in kept.live()] == [3]


def test_where_only_pinned_is_left_what_runs_out_first_goes_first_of_one_priority(
    index: str,
) -> None:
    kept = Kept(4, index, retention_budget=4)
    for number, ttl in enumerate([20.0, 10.0]):
        kept.store([number] * 8)
        kept.pin([number] * 8, ttl=ttl)
    kept.flood(2)
    assert (kept.cached([0] * 8), kept.cached([1] * 8)) == (8, 0)


def test_a_leaf_under_several_pins_is_as_strong_as_the_strongest(index: str) -> None:
    kept = Kept(4, index, retention_budget=4)
    for number in range(2):
        kept.store([number] * 8)
    kept.pin([0] * 8, priority=1)
    kept.pin([0] * 8, priority=3)
    kept.pin([1] * 8, priority=2)
    kept.flood(2)
    assert (kept.cached([0] * 8), kept.cached([1] * 8)) == (8, 0)


def test_a_pinned_prefix_that_must_give_way_gives_up_no_more_than_is_wanted(index: str) -> None:
    kept = Kept(4, index, retention_budget=4)
    kept.store(range(16))
    kept.pin(range(16))
    kept.flood(1)
    assert kept.cached(range(16)) == 12
    assert kept.live() == [], "it isn't whole any more"


def test_nothing_pinned_goes_while_there_is_something_else(index: str) -> None:
    kept = Kept(6, index, retention_budget=4)
    kept.store(range(12))
    kept.pin(range(8))
    kept.store(range(50, 62))
    kept.flood(4)
    assert kept.cached(range(12)) == 8


def test_unpinned_it_is_an_ordinary_prefix_again(index: str) -> None:
    kept = Kept(4, index)
    kept.store(range(8))
    pin = kept.pin(range(8))
    kept.store(range(50, 58))
    kept.unpin(pin)
    assert kept.live() == []
    kept.flood(2)
    assert (kept.cached(range(8)), kept.cached(range(50, 58))) == (0, 8)


def test_unpinning_twice_is_unpinning_once(index: str) -> None:
    kept = Kept(6, index)
    kept.store(range(8))
    first, second = kept.pin(range(8)), kept.pin(range(4))
    kept.unpin(first)
    kept.unpin(first)
    assert kept.live() == [second]
    kept.store(range(50, 58))
    kept.flood(4)
    assert kept.cached(range(8)) == 4


def test_a_pin_that_ran_out_can_still_be_let_go(index: str) -> None:
    kept = Kept(6, index)
    kept.store(range(8))
    pin = kept.pin(range(8), ttl=1.0)
    kept.now = 2.0
    assert kept.live() == []
    kept.unpin(pin)
    assert kept.cached(range(8)) == 8


def test_the_shorter_of_two_pins_keeps_its_part_when_the_longer_is_let_go(index: str) -> None:
    kept = Kept(6, index, retention_budget=4)
    kept.store(range(16))
    long, short = kept.pin(range(16)), kept.pin(range(8))
    kept.unpin(long)
    kept.flood(4)
    assert kept.cached(range(16)) == 8
    assert kept.live() == [short]


def test_a_reset_forgets_pins_and_gives_their_budget_back(index: str) -> None:
    kept = Kept(12, index, retention_budget=3)
    for _ in range(3):
        kept.store(range(12))
        pin = kept.pin(range(12))
        kept.pin(range(8))
        kept.cache.reset()
        assert kept.live() == []
        kept.unpin(pin)
        kept.cache.audit()


def test_a_reset_while_a_pinned_prefix_is_held_leaves_its_lease_what_it_has(index: str) -> None:
    kept = Kept(6, index)
    kept.store(range(12))
    kept.pin(range(12))
    lease = acquired(kept.cache, range(9))
    kept.cache.reset()
    kept.cache.audit()
    assert kept.live() == []
    kept.cache.release(lease)
    kept.cache.audit()
    assert kept.cache.available == 6
    kept.store(range(12))
    kept.pin(range(12))


def test_a_disabled_cache_pins_nothing(index: str) -> None:
    kept = Kept(6, index, enabled=False)
    kept.store(range(12))
    assert kept.cache.pin(kept.cache.chain(namespace()), range(12), ttl=1) is None


def test_trimming_leaves_the_pinned_for_last(index: str) -> None:
    kept = Kept(8, index)
    kept.store(range(8))
    kept.pin(range(8))
    kept.store(range(50, 66))
    kept.cache.trim(2)
    kept.cache.audit()
    assert kept.cached(range(8)) == 8
    kept.cache.trim(1)
    kept.cache.audit()
    assert kept.cached(range(8)) == 4
