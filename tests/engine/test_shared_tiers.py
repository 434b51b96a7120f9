"""Prefixes that tenants share, above tiers in which each of them keeps its own copy.

Blocks of 4 tokens, chunks of 8. What is declared ends inside a chunk, or with one.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.engine.offload_twin import WAIT, Twin, prompt_of

from headstart.cache.prefix_cache import INDEXES
from headstart.engine.sequence import Sequence
from headstart.stores.errors import Full

SYSTEM = prompt_of(20)
"""Two chunks, and the first half of a third."""
WRITES = ("through", "selective", "back")


@pytest.fixture(params=sorted(INDEXES))
def index(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@contextmanager
def twin(*names: str, **fields: Any) -> Iterator[Twin]:
    made = Twin(*(names or ("disk",)), **{"declared": [SYSTEM], **fields})
    try:
        yield made
    finally:
        made.close()


def loaded(sequence: Sequence) -> int:
    reuse = sequence.group.reuse
    assert reuse is not None
    return sum(reuse.loaded.values())


def ended(t: Twin) -> None:
    """The process ends, and another one begins with the same tiers."""
    t.offload._flush(t.rig.clock.now + WAIT)
    t.rig.drained()
    t.crash()


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("declared", [16, 20])
def test_after_a_restart_every_tenant_finds_all_of_its_own_and_nobody_elses(
    index: str, write: str, declared: int
) -> None:
    """The chunk over the gate too. Every position's KV is checked by the twin."""
    with twin(index=index, write=write, declared=[SYSTEM[:declared]]) as t:
        prompts = {tenant: [*SYSTEM, *prompt_of(21, seed)] for seed, tenant in enumerate("ab")}
        for _ in range(2):
            for tenant, prompt in prompts.items():
                t.run(prompt, tenant=tenant)
        ended(t) if write == "back" else t.forget_pool()
        for tenant, prompt in prompts.items():
            found = declared if tenant == "b" else 0  # "a" has brought it up.
            assert loaded(t.run(prompt, tenant=tenant)) == 40 - found
        assert t.rig.counts("disk")["stored"] == 10
        ended(t)
        assert loaded(t.run(prompts["a"], tenant="b")) == 16


@pytest.mark.parametrize("behind", [1, 3, 21])
def test_what_leaves_block_by_block_comes_up_for_whoever_it_left(index: str, behind: int) -> None:
    """Also where no full block ever stood behind what is shared."""
    with twin(index=index, write="back") as t:
        prompts = {tenant: [*SYSTEM, *prompt_of(behind, ord(tenant))] for tenant in "abc"}
        for tenant, prompt in prompts.items():
            t.run(prompt, tenant=tenant)
        for cached in range(t.cache.cached, -1, -1):
            t.cache.trim(cached)
        for tenant, prompt in prompts.items():
            t.forget_pool()
            assert loaded(t.run(prompt, tenant=tenant)) == (len(prompt) - 1) // 8 * 8


def test_what_nobody_has_of_its_own_does_not_go_down() -> None:
    with twin(write="back") as t:
        t.run([*SYSTEM, *prompt_of(21)])
        t.forget_pool()
        assert t.rig.counts("disk")["stored"] == 5


def test_a_tenants_copy_is_not_written_at_every_request() -> None:
    with twin(write="back") as t:
        for seed in range(5):
            t.run([*SYSTEM, seed])
            t.cache.trim(5)  # Nothing of the tenant's own is left.
        t.rig.drained()
        assert t.rig.store["disk"].seen.count("put") == 2


def test_a_copy_that_a_tier_declined_is_offered_again() -> None:
    with twin(write="back") as t:
        t.rig.store["disk"].error = Full("no room")
        t.run([*SYSTEM, 1])
        t.cache.trim(5)
        t.rig.drained()
        t.rig.store["disk"].error = None
        for seed in range(3):
            t.rig.clock.now += 2
            t.run([*SYSTEM, seed])
            t.cache.trim(5)
            t.rig.drained()
        t.crash()
        assert loaded(t.run([*SYSTEM, 1])) == 16


def test_a_client_that_leaves_within_what_is_shared_leaves_its_whole_chunks() -> None:
    with twin(step_tokens=12) as t:
        t.drop(begun := t.add([*SYSTEM, *prompt_of(21)]))
        begun = t.add([*SYSTEM, *prompt_of(21)])
        t.loaded(begun)
        t.step()
        t.drop(begun)
        t.forget_pool()
        assert loaded(t.run([*SYSTEM, *prompt_of(21)])) == 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_whatever_tenants_do_all_kv_is_right(index: str, seed: int) -> None:
    """Restarts, resets, floods and small pools; prompts within, on and behind what is declared."""
    draw = random.Random(seed)
    fixed = draw.choice([None, 16])
    with twin(
        *draw.choice([("disk",), ("ram", "disk")]),
        index=index,
        write=draw.choice(WRITES),
        blocks=draw.choice([24, 48]),
        chunk_blocks=4 if fixed else draw.choice([1, 2, 4]),
        fixed=fixed,
        step_tokens=16,
        ttl=draw.choice([None, 30.0]),
        declared=[SYSTEM, SYSTEM[:8], [*SYSTEM, *range(12)]],
    ) as t:
        came = 0
        for _ in range(60):
            t.rig.clock.now += draw.randrange(4)
            for _ in range(draw.randrange(1, 4)):
                stem = draw.choice([SYSTEM[:6], SYSTEM[:8], SYSTEM, [*SYSTEM, *range(12)]])
                tail = [draw.randrange(2)] * draw.randrange(1, 30)
                length = min(len(stem) + len(tail), 60)
                sequence = t.add(
                    [*stem, *tail][:length],
                    tenant=draw.choice("ab"),
                    max_tokens=draw.randrange(1, 9),
                )
                if draw.random() < 0.1:
                    t.drop(sequence)
            t.finish()
            came += sum(loaded(each) for each in t.done if each.group.reuse is not None)
            t.done.clear()
            match draw.randrange(12):
                case 0:
                    t.cache.reset()
                case 1 | 2:
                    t.forget_pool()
                case 3:
                    ended(t)
        assert came
