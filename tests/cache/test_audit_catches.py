"""Each thing `audit()` promises to notice is broken here once, by hand, and must be noticed.

The cache under test always holds: a lease on one stored block and three private ones, one cached
chain of three blocks (the lease's hit is its root), and free blocks.
"""

from dataclasses import dataclass

import pytest
from tests.cache.build import acquired, stored

from headstart.cache import BlockId, BlockKey, CacheCorrupt, Lease, PrefixCache
from headstart.cache.prefix_cache import NO_BLOCK


@dataclass(frozen=True)
class Scene:
    cache: PrefixCache
    lease: Lease
    root: BlockId
    """Stored, and held by the lease."""
    middle: BlockId
    """Cached, with a child."""
    leaf: BlockId
    """Cached, evictable."""
    private: BlockId
    free: BlockId


@pytest.fixture
def scene() -> Scene:
    cache = PrefixCache(12, 4)
    root, middle, leaf = stored(cache, range(12)).blocks
    lease = acquired(cache, [0, 1, 2, 3, *range(100, 112)])
    assert lease.blocks[0] == root
    free = next(BlockId(at) for at in range(12) if cache._pool.is_free(BlockId(at)))
    cache.audit()
    return Scene(cache, lease, root, middle, leaf, lease.blocks[1], free)


def caught(scene: Scene, complaint: str) -> None:
    with pytest.raises(CacheCorrupt, match=complaint):
        scene.cache.audit()


@pytest.mark.parametrize("change", [1, -1])
@pytest.mark.parametrize("which", ["root", "middle", "leaf", "private", "free"])
def test_a_reference_too_many_or_too_few_is_caught(scene: Scene, which: str, change: int) -> None:
    scene.cache._blocks[getattr(scene, which)].refs += change
    caught(scene, "references")


def test_a_block_in_a_lease_that_the_count_does_not_know_is_caught(scene: Scene) -> None:
    scene.lease.blocks.append(scene.free)
    caught(scene, "0 references, 1 holders")


def test_a_block_lost_from_its_lease_is_caught(scene: Scene) -> None:
    scene.lease.blocks.pop()
    caught(scene, "1 references, 0 holders")


def test_a_lease_that_was_forgotten_without_being_released_is_caught(scene: Scene) -> None:
    scene.cache._leases.clear()
    caught(scene, "references, 0 holders")


def test_a_dead_lease_that_still_holds_blocks_is_caught(scene: Scene) -> None:
    scene.lease.live = False
    scene.cache._announced.clear()
    caught(scene, "dead lease")


def test_a_leaked_block_is_caught(scene: Scene) -> None:
    scene.cache._pool.take(1)
    caught(scene, "free and used")


@pytest.mark.parametrize("which", ["root", "middle", "leaf", "private"])
def test_a_block_that_is_free_while_it_is_used_is_caught(scene: Scene, which: str) -> None:
    scene.cache._pool.give(getattr(scene, which))
    caught(scene, "free and used")


@pytest.mark.parametrize("change", [1, -1])
def test_a_wrong_number_of_free_blocks_is_caught(scene: Scene, change: int) -> None:
    scene.cache._pool.free += change
    caught(scene, "lost")


@pytest.mark.parametrize("change", [1, -1])
def test_a_wrong_number_of_cached_blocks_is_caught(scene: Scene, change: int) -> None:
    scene.cache._cached += change
    caught(scene, "cached count")


def test_a_leaf_that_can_not_be_evicted_is_caught(scene: Scene) -> None:
    scene.cache._leaves.discard(scene.leaf)
    caught(scene, "evictable")


@pytest.mark.parametrize("which", ["root", "middle", "private", "free"])
def test_a_block_that_must_not_be_evicted_but_could_be_is_caught(scene: Scene, which: str) -> None:
    scene.cache._leaves.add(getattr(scene, which), stamp=0, depth=0)
    caught(scene, "evictable")


@pytest.mark.parametrize("change", [1, -1])
@pytest.mark.parametrize("which", ["root", "middle", "leaf", "private"])
def test_a_wrong_number_of_children_is_caught(scene: Scene, which: str, change: int) -> None:
    scene.cache._blocks[getattr(scene, which)].children += change
    caught(scene, "children|evictable")


@pytest.mark.parametrize("which", ["root", "middle", "leaf"])
def test_a_key_missing_from_the_index_is_caught(scene: Scene, which: str) -> None:
    key = scene.cache._blocks[getattr(scene, which)].key
    assert key is not None
    del scene.cache._index[key]
    caught(scene, "index")


def test_a_key_that_leads_to_another_block_is_caught(scene: Scene) -> None:
    key = scene.cache._blocks[scene.leaf].key
    assert key is not None
    scene.cache._index[key] = scene.middle
    caught(scene, "index")


@pytest.mark.parametrize("which", ["private", "free", "leaf"])
def test_a_key_in_the_index_that_its_block_does_not_know_is_caught(
    scene: Scene, which: str
) -> None:
    scene.cache._index[BlockKey(b"stale" * 6)] = getattr(scene, which)
    caught(scene, "index")


def test_a_block_that_outlived_its_parent_is_caught(scene: Scene) -> None:
    cache = scene.cache
    middle = cache._blocks[scene.middle]
    assert middle.key is not None
    del cache._index[middle.key]
    middle.key = None
    cache._blocks[scene.root].children -= 1
    cache._cached -= 1
    cache._pool.give(scene.middle)
    middle.children, middle.parent = 1, NO_BLOCK
    caught(scene, "without its parent")


def test_a_held_block_whose_parent_may_be_evicted_is_caught(scene: Scene) -> None:
    """A lease that pinned the end of a chain but not its beginning."""
    cache = scene.cache
    scene.lease.blocks.append(scene.leaf)
    cache._pin(scene.leaf)
    caught(scene, "pinned without its parent")


@pytest.mark.parametrize("which", ["root", "middle", "leaf"])
@pytest.mark.parametrize("change", [1, -1])
def test_a_wrong_depth_is_caught(scene: Scene, which: str, change: int) -> None:
    scene.cache._blocks[getattr(scene, which)].depth += change
    caught(scene, "depth")


def test_a_root_at_a_wrong_depth_is_caught_without_children_to_tell(scene: Scene) -> None:
    (only,) = stored(scene.cache, [7, 7, 7, 7]).blocks
    scene.cache._blocks[only].depth = 3
    caught(scene, "depth")


def test_an_announcement_of_a_dead_lease_is_caught(scene: Scene) -> None:
    gone = acquired(scene.cache, range(500, 508))
    scene.cache.release(gone)
    scene.cache._announced[BlockKey(b"soon" * 8)] = gone
    caught(scene, "dead lease announces")


def test_a_lease_that_calls_a_private_block_shared_is_caught(scene: Scene) -> None:
    """Believing that, it would hang its next block on a parent nobody can find."""
    scene.lease.shared += 1
    caught(scene, "shared")


def test_a_lease_over_a_chain_out_of_order_is_caught(scene: Scene) -> None:
    """Same blocks, same counts, but the tokens would read each other's KV."""
    cache = scene.cache
    lease = acquired(cache, range(13))
    assert lease.blocks[:3] == [scene.root, scene.middle, scene.leaf]
    lease.blocks[1], lease.blocks[2] = lease.blocks[2], lease.blocks[1]
    with pytest.raises(CacheCorrupt):
        cache.audit()
