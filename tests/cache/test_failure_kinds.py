"""Field failures of other servers, by their case number, shown impossible at the cache's level.

The cases stand in the project's reference list of failure kinds; what needs a model or a server to
show is tested in their rooms.
"""

import hashlib

import pytest
from tests.cache.build import acquired, cached_tokens, namespace, stored

from headstart.cache import Chain, Lease, Match, PrefixCache
from headstart.cache.keys import block_key, token_bytes

# ID: incomplete or ambiguous identity


def test_id_01_two_adapters_of_one_name_share_no_kv(index: str) -> None:
    """The name isn't in the key; the digest of the weights is."""
    cache = PrefixCache(100, 16, index=index)
    w1, w2 = (namespace(block_size=16, adapter=hashlib.sha256(w).digest()) for w in (b"1", b"2"))
    stored(cache, range(600), w1)
    assert cached_tokens(cache, range(600), w2) == 0
    assert cached_tokens(cache, range(600), namespace(block_size=16)) == 0
    assert cached_tokens(cache, range(600), w1) == 592


def test_id_10_a_block_is_named_by_all_256_bits_of_sha_256() -> None:
    """A hit stands on the key alone, so there is no weaker hash to choose."""
    parent = namespace().root(0)
    key = block_key(parent, token_bytes([1, 2, 3, 4]))
    assert (len(parent), len(key)) == (32, 32)
    tokens = b"".join(n.to_bytes(4, "little") for n in (4, 1, 2, 3, 4))
    assert key == hashlib.sha256(b"headstart.block\0" + parent + tokens).digest()


def test_id_12_guesses_of_another_tenant_find_nothing_however_close_they_are(index: str) -> None:
    cache = PrefixCache(200, 4, index=index)
    victim, spy = (namespace(tenant=name) for name in ("victim", "spy"))
    secret = list(range(64 * 4))
    running = acquired(cache, [*secret, 7], victim)
    for k in range(9):
        guess = [*secret[: k * 4 + 2], 999, 999, 999, 999, 999]
        assert cache.match(cache.chain(spy), [*secret, 7]) == Match(0, coming=False)
        assert cache.match(cache.chain(spy), guess) == Match(0, coming=False)
        cache.publish(running, [*secret, 7], k * 32)
    assert cache.match(cache.chain(victim), [*secret, 7]) == Match(256, coming=False)


def test_id_12_a_client_can_not_spell_another_tenant_by_its_salt(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    stored(cache, range(8), namespace(tenant="ab", salt="c"))
    for tenant, salt in [("a", "bc"), ("abc", ""), ("abc", None), ("", "abc"), ("ab", None)]:
        assert cached_tokens(cache, range(9), namespace(tenant=tenant, salt=salt)) == 0
    assert cached_tokens(cache, range(9), namespace(tenant="ab", salt="c")) == 8


def test_id_14_other_weights_find_nothing_of_the_old_ones(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    stored(cache, range(8), namespace(weights=b"old"))
    assert cached_tokens(cache, range(9), namespace(weights=b"new")) == 0
    assert cached_tokens(cache, range(9), namespace(weights=b"old")) == 8


def test_id_14_blocks_in_flight_at_a_swap_are_never_published(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    stored(cache, range(8))
    before = acquired(cache, range(16))
    cache.reset()
    after = acquired(cache, range(16))
    assert (before.cached_tokens, after.cached_tokens) == (4 * 2, 0)

    cache.publish(before, range(16))
    cache.release(before)
    assert cached_tokens(cache, range(17)) == 0
    cache.publish(after, range(16))
    assert cached_tokens(cache, range(17)) == 16
    cache.audit()


# LIFE: block lifetime


def test_life_01_hits_that_are_never_used_do_not_stay_pinned(index: str) -> None:
    cache = PrefixCache(50, 4, index=index)
    for turn in range(200):
        stored(cache, range(8))
        unused = acquired(cache, range(9))
        assert unused.cached_tokens == 8, turn
        cache.release(unused)
    prompts = [[1000 + n] * 4 for n in range(50)]
    for prompt in prompts:
        stored(cache, prompt)
    assert [cached_tokens(cache, [*prompt, 0]) for prompt in prompts] == [4] * 50


def test_life_02_the_hit_rate_does_not_fade_under_steady_work(index: str) -> None:
    """19 of 20 blocks always wanted: every round of prompts hits as the first warm one did."""
    cache = PrefixCache(20, 4, index=index)
    prompts = [[n, *range(11)] for n in range(6)]
    hits = []
    for _ in range(300):
        leases = [stored(cache, [*prompt, 5]) for prompt in prompts]
        hits.append(sum(lease.cached_tokens for lease in leases))
        assert cache.leased == 0
    cache.audit()
    assert hits == [0] + [6 * 12] * 299


def test_life_04_eight_share_four_cancel_twice_and_four_still_hold(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    stored(cache, range(8))
    leases = [acquired(cache, range(8 + 1)) for _ in range(8)]
    for lease in leases[:4] * 2:
        cache.release(lease)
        cache.audit()

    filler = acquired(cache, [9] * 4 * cache.available)
    for lease in leases[4:]:
        assert lease.blocks[:2] == leases[0].blocks[:2]
        assert set(lease.blocks).isdisjoint(filler.blocks)
    for lease in [*leases, filler]:
        cache.release(lease)
    assert cache.available == 20
    cache.audit()


@pytest.mark.parametrize("ending", ["stop", "length", "abort", "abort before anything"])
def test_life_05_the_last_decode_slot_comes_back_once_however_a_request_ends(
    index: str, ending: str
) -> None:
    cache, tokens = PrefixCache(300, 1, index=index), list(range(10))
    lease = acquired(cache, tokens)
    if ending != "abort before anything":
        cache.publish(lease, tokens)
        for token in range(200):
            tokens.append(token)
            assert cache.grow(lease, len(tokens))
            if ending != "abort":
                cache.publish(lease, tokens, len(tokens) - 1)
    if ending == "stop":
        cache.publish(lease, tokens)
    cache.release(lease)
    cache.release(lease)
    assert cache.available == 300
    cache.audit()


def test_life_09_a_hit_is_pinned_before_anyone_else_can_take_its_block(index: str) -> None:
    cache = PrefixCache(2, 4, index=index)
    stored(cache, range(4))
    a = acquired(cache, range(5))
    assert a.cached_tokens == 4
    assert cache.acquire(cache.chain(namespace()), [9] * 4) is None
    cache.release(a)


def test_life_09_a_hit_that_was_only_looked_up_is_computed_again_when_its_block_was_taken(
    index: str,
) -> None:
    cache = PrefixCache(2, 4, index=index)
    stored(cache, range(4))
    chain = cache.chain(namespace())
    assert cache.match(chain, range(5)).cached_tokens == 4
    b = acquired(cache, [9] * 8)
    assert cache.acquire(chain, range(5)) is None
    cache.release(b)
    a = cache.acquire(chain, range(5))
    assert a is not None
    assert (a.cached_tokens, a.shared) == (0, 0)


@pytest.mark.parametrize(("taken", "left"), [(0, 12), (1, 8), (2, 4), (3, 0)])
def test_life_11_a_chain_is_given_up_from_its_end(index: str, taken: int, left: int) -> None:
    cache = PrefixCache(3, 4, index=index)
    stored(cache, range(12))
    if taken:
        cache.release(acquired(cache, [9] * 4 * taken))
    assert cached_tokens(cache, range(13)) == left
    cache.audit()


def test_life_11_a_parent_outlives_children_that_were_used_later(index: str) -> None:
    cache = PrefixCache(4, 4, index=index)
    stored(cache, [*range(4), *[1] * 4])
    stored(cache, [*range(4), *[2] * 4])
    cache.release(acquired(cache, [9] * 4 * 3))  # one was free, two leaves must go
    assert cached_tokens(cache, range(5)) == 4
    cache.audit()


def test_life_15_a_cache_that_is_off_does_not_stop_a_request_from_getting_on(index: str) -> None:
    cache = PrefixCache(10, 4, enabled=False, index=index)
    lease = acquired(cache, range(40))
    for chunk in range(1, 6):
        blocks = list(lease.blocks)
        cache.publish(lease, range(40), chunk * 8)
        assert lease.blocks == blocks
    cache.release(lease)
    assert cache.available == 10


# PUB: visible before valid


def test_pub_06_an_abort_in_mid_prefill_leaves_only_what_was_finished(index: str) -> None:
    cache, prompt = PrefixCache(6, 4, index=index), list(range(24))
    lease = acquired(cache, prompt)
    cache.publish(lease, prompt, 12)
    cache.release(lease)
    assert cached_tokens(cache, prompt) == 12

    other = acquired(cache, [9] * 20)
    assert cached_tokens(cache, prompt) == 4
    cache.release(other)
    again = acquired(cache, prompt)
    assert again.cached_tokens == 4
    cache.audit()


def test_pub_08_of_two_in_one_step_the_second_has_no_credit_for_the_firsts_work(index: str) -> None:
    cache = PrefixCache(8, 1, index=index)
    space = namespace(block_size=1)
    first = acquired(cache, [1, 2, 3, 4])
    assert cache.match(cache.chain(space), [1, 2, 3, 5]) == Match(0, coming=True)
    second = acquired(cache, [1, 2, 3, 5])
    assert second.cached_tokens == 0
    assert set(first.blocks).isdisjoint(second.blocks)

    cache.publish(first, [1, 2, 3, 4])
    cache.publish(second, [1, 2, 3, 5])
    assert second.blocks[:3] == first.blocks[:3]
    assert second.blocks[3] != first.blocks[3]


# EDGE: boundary arithmetic


@pytest.mark.parametrize("unit", [1, 16])
@pytest.mark.parametrize("blocks", [1, 2, 16])
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_edge_01_the_same_prompt_again_leaves_a_token_to_compute(
    index: str, blocks: int, off: int, unit: int
) -> None:
    cache = PrefixCache(64, 16, reuse_unit=unit, index=index)
    prompt = range(blocks * 16 + off)
    stored(cache, prompt)
    full = len(prompt) // 16 * 16
    again = acquired(cache, prompt)
    assert again.cached_tokens == min(full, len(prompt) - 1) // unit * unit
    assert len(again.blocks) == -(-len(prompt) // 16)


@pytest.mark.parametrize("unit", [16, 512])
def test_edge_04_a_rest_of_any_size_behind_a_large_hit_is_never_empty(
    index: str, unit: int
) -> None:
    cache = PrefixCache(100, 16, reuse_unit=unit, index=index)
    head = list(range(512))
    stored(cache, head)
    for rest in range(1, 601):
        lease = acquired(cache, [*head, *range(1000, 1000 + rest)])
        assert lease.cached_tokens == 512
        assert len(lease.blocks) * 16 >= 512 + rest
        cache.release(lease)


def test_edge_05_a_partly_filled_block_does_not_count_as_a_whole_one(index: str) -> None:
    cache = PrefixCache(8, 16, reuse_unit=16, index=index)
    stored(cache, range(40), tail=True)
    assert cached_tokens(cache, range(40)) == 32
    assert cached_tokens(cache, range(48)) == 32


def test_edge_05_a_partly_filled_block_counts_by_the_tokens_in_it(index: str) -> None:
    cache = PrefixCache(8, 16, index=index)
    stored(cache, range(40), tail=True)
    assert cached_tokens(cache, range(40)) == 39
    assert cached_tokens(cache, range(48)) == 40


@pytest.mark.parametrize("n", [31, 32, 33, 47, 48, 49])
def test_edge_07_warming_n_tokens_warms_every_whole_block_of_them(index: str, n: int) -> None:
    cache = PrefixCache(16, 16, index=index)
    stored(cache, range(n))
    assert cached_tokens(cache, [*range(n), *[9] * 20]) == n // 16 * 16


@pytest.mark.parametrize("n", [31, 32, 33, 47, 48, 49])
def test_edge_07_warming_n_tokens_with_their_tail_warms_all_of_them(index: str, n: int) -> None:
    cache = PrefixCache(16, 16, index=index)
    stored(cache, range(n), tail=True)
    assert cached_tokens(cache, [*range(n), *[9] * 20]) == n


def test_edge_09_a_prompt_cut_short_never_reuses_more_than_it_has(index: str) -> None:
    cache, chain = PrefixCache(16, 4, index=index), Chain(namespace(), 0)
    stored(cache, range(40))
    for n in range(40, -1, -1):
        assert cache.match(chain, range(n)).cached_tokens == max(0, n - 1)
        assert cached_tokens(cache, range(n)) == max(0, n - 1)


@pytest.mark.parametrize(("n", "blocks"), [(0, 0), (1, 1)])
def test_edge_11_no_token_and_one_token_have_no_key_and_ask_for_none(
    index: str, n: int, blocks: int
) -> None:
    cache = PrefixCache(4, 4, index=index)
    chain = cache.chain(namespace())
    assert cache.match(chain, [5] * n) == Match(0, coming=False)
    lease = acquired(cache, [5] * n)
    assert (chain.keys(1), len(lease.blocks)) == ([], blocks)
    assert cache.match(chain, [5] * n) == Match(0, coming=False)
    cache.publish(lease, [5] * n)
    cache.release(lease)
    assert (cache.cached, cache.available) == (0, 4)


# SCHED: herd, deadlock, eviction policy

SHARED = list(range(64))


def _herd(cache: PrefixCache, requests: int, cancel_first_at: int | None = None) -> int:
    """All arrive at once, wait while their next block is coming, and compute a block a step.

    Returns the tokens computed. Fails if a step passes in which nobody gets on.
    """
    prompts = [[*SHARED, 1000 + n] for n in range(requests)]
    chains = [cache.chain(namespace()) for _ in prompts]
    waiting, running, computed = list(range(requests)), dict[int, tuple[Lease, int]](), 0
    while waiting or running:
        for n in list(waiting):
            if not cache.match(chains[n], prompts[n]).coming:
                lease = acquired_on(cache, chains[n], prompts[n])
                running[n] = lease, lease.cached_tokens
                waiting.remove(n)
        assert running, "all wait for each other"
        for n, (lease, done) in list(running.items()):
            count = min(4, len(prompts[n]) - done)
            computed += count
            cache.publish(lease, prompts[n], done + count)
            running[n] = lease, done + count
            if done + count == len(prompts[n]) or (n == 0 and done + count == cancel_first_at):
                cache.release(lease)
                del running[n]
        cache.audit()
    return computed


def acquired_on(cache: PrefixCache, chain: Chain, tokens: list[int]) -> Lease:
    lease = cache.acquire(chain, tokens)
    assert lease is not None
    return lease


def test_sched_01_a_herd_computes_its_shared_prefix_once(index: str) -> None:
    assert _herd(PrefixCache(200, 4, index=index), 32) == len(SHARED) + 32


@pytest.mark.parametrize("at", [4, 32, 60])
def test_sched_01_when_the_first_is_cancelled_another_takes_over_where_it_stopped(
    index: str, at: int
) -> None:
    assert _herd(PrefixCache(200, 4, index=index), 32, cancel_first_at=at) == len(SHARED) + 31


def test_sched_01_one_that_gave_up_waiting_does_not_end_the_announcement_of_the_other(
    index: str,
) -> None:
    cache = PrefixCache(40, 4, index=index)
    first, impatient = acquired(cache, range(9)), acquired(cache, range(9))
    cache.release(impatient)
    assert cache.match(cache.chain(namespace()), range(9)).coming
    cache.release(first)
    assert not cache.match(cache.chain(namespace()), range(9)).coming


def test_sched_03_a_prefix_is_shared_while_its_first_user_still_generates(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    first = acquired(cache, range(9))
    cache.publish(first, range(9))
    assert cache.grow(first, 20)
    second = acquired(cache, range(9))
    assert second.blocks[:2] == first.blocks[:2]
    assert second.cached_tokens == 8


def test_sched_04_a_prompt_gets_all_its_blocks_or_none_so_two_can_not_starve_each_other(
    index: str,
) -> None:
    cache = PrefixCache(10, 4, index=index)
    stored(cache, range(16))
    stored(cache, range(50, 66))
    a = acquired(cache, [*range(16), *[8] * 16])
    waiting = cache.chain(namespace())
    b = [*range(50, 66), *[9] * 16]
    assert cache.acquire(waiting, b) is None
    assert cache.leased == len(a.blocks) == 8
    cache.release(a)
    assert cache.acquire(waiting, b) is not None


def test_sched_08_a_prefix_that_is_hit_again_and_again_outlives_one_off_prompts(index: str) -> None:
    cache, hot = PrefixCache(8, 4, index=index), list(range(16))
    stored(cache, hot)
    for n in range(20):
        stored(cache, [100 + n] * 8)
        lease = stored(cache, [*hot, 200 + n])
        assert lease.cached_tokens == 16, n


def test_sched_14_the_hits_of_a_prompt_that_waits_for_room_are_the_last_to_go(index: str) -> None:
    """X is the oldest, but the head of the queue was refused with it in hand."""
    cache, x, y = PrefixCache(4, 4, index=index), [1] * 4, [2] * 4
    stored(cache, x)
    stored(cache, y)
    running = acquired(cache, [3] * 8)
    head = cache.chain(namespace())
    assert cache.acquire(head, [*x, *range(16)]) is None
    assert cache.grow(running, 12)
    assert (cached_tokens(cache, [*x, 0]), cached_tokens(cache, [*y, 0])) == (4, 0)


def test_sched_15_a_reset_while_requests_run_takes_effect_at_once_and_disturbs_nobody(
    index: str,
) -> None:
    cache = PrefixCache(10, 4, index=index)
    running = acquired(cache, range(12))
    cache.publish(running, range(12))
    cache.release(acquired(cache, range(50, 58)))
    held = list(running.blocks)
    cache.reset()

    assert cache.match(cache.chain(namespace()), range(13)) == Match(0, coming=False)
    assert (running.blocks, cache.leased, cache.available) == (held, 3, 7)
    assert cache.grow(running, 16)
    cache.publish(running, range(16))
    assert cached_tokens(cache, range(17)) == 0
    cache.release(running)
    assert cache.available == 10
    cache.audit()
