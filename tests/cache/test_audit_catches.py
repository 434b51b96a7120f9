"""Each thing `audit()` promises to notice is broken here once, by hand, and must be noticed.

The names of what the cache under test holds are explained in `Scene`.
"""

from dataclasses import dataclass

import pytest
from tests.cache.build import acquired, namespace, stored

from headstart.cache import BlockId, BlockKey, CacheCorrupt, Lease, PrefixCache
from headstart.cache.hashed import HashIndex
from headstart.cache.keys import block_key, token_bytes
from headstart.cache.lease import Announcement
from headstart.cache.node import Node, Root
from headstart.cache.tree import Tree


@dataclass(frozen=True)
class Scene:
    """Each lease and each cached prefix begins with a block of its own."""

    cache: PrefixCache
    stale: Lease
    """From before a reset: one block and a tail that were findable then."""
    lease: Lease
    """Shares one block with a cached prefix, has three of its own, announces the first of them."""
    long: Lease
    """Two findable blocks, one of its own."""
    tails: tuple[Lease, Lease, Lease]
    """With findable tails; the second and third behind the same block."""
    leaf: Node
    """Cached, behind what `lease` shares."""
    branch: Node
    """Cached, with `tail` behind it."""
    tail: Node
    """Cached, of one token."""
    free: BlockId

    @property
    def tree(self) -> Tree:
        return self.cache._tree

    @property
    def shared(self) -> Node:
        """Held by `lease`, with cached blocks behind it."""
        return self.lease.node

    @property
    def root(self) -> Node:
        assert self.branch.parent is not None
        return self.branch.parent


def only_child(node: Node) -> Node:
    (child,) = node.children
    return child


def last_below(node: Node) -> Node:
    while len(node.children):
        node = only_child(node)
    return node


def published(cache: PrefixCache, tokens: list[int], ready: int) -> Lease:
    lease = acquired(cache, tokens)
    cache.publish(lease, tokens, ready, tail=True)
    return lease


@pytest.fixture
def scene(index: str) -> Scene:
    cache = PrefixCache(40, 4, index=index)
    stale = published(cache, list(range(900, 906)), 6)
    cache.reset()
    stored(cache, range(12))
    lease = acquired(cache, [0, 1, 2, 3, *range(100, 112)])
    long = published(cache, list(range(300, 309)), 8)
    tails = (
        published(cache, list(range(400, 406)), 6),
        published(cache, list(range(500, 506)), 6),
        published(cache, [500, 501, 502, 503, 590, 591], 6),
    )
    stored(cache, range(200, 205), tail=True)
    cache.take_copies()
    cache.audit()

    leaf = last_below(lease.node)
    root = lease.node.parent
    assert root is not None
    branch = root.children.get(token_bytes(range(200, 204)))
    assert branch is not None
    free = next(BlockId(at) for at in range(40) if cache._pool.is_free(BlockId(at)))
    return Scene(cache, stale, lease, long, tails, leaf, branch, only_child(branch), free)


def caught(scene: Scene, complaint: str) -> None:
    with pytest.raises(CacheCorrupt, match=complaint):
        scene.cache.audit()


# Who holds what


@pytest.mark.parametrize("change", [1, -1])
@pytest.mark.parametrize("which", ["shared", "root"])
def test_a_holder_too_many_or_too_few_is_caught(scene: Scene, which: str, change: int) -> None:
    getattr(scene, which).holders += change
    caught(scene, "holders counted")


def test_a_holder_too_many_of_what_nobody_holds_is_caught(scene: Scene) -> None:
    scene.branch.holders += 1
    caught(scene, "holders counted")


def test_a_holder_too_many_of_a_tail_is_caught(scene: Scene) -> None:
    tail = scene.tails[0].tail
    assert tail is not None
    tail.holders += 1
    caught(scene, "2 holders counted, 1 there")


def test_a_holder_too_many_from_before_a_reset_is_caught(scene: Scene) -> None:
    scene.stale.node.holders += 1
    caught(scene, "2 holders counted, 1 there")


def test_a_lease_that_was_forgotten_without_being_released_is_caught(scene: Scene) -> None:
    scene.cache._leases.remove(scene.long)
    caught(scene, "1 holders counted, 0 there")


def test_a_lease_that_moved_on_without_telling_is_caught(scene: Scene) -> None:
    scene.long.node = scene.shared
    caught(scene, "holders counted")


def test_a_node_from_before_a_reset_that_nobody_holds_is_caught(scene: Scene) -> None:
    """Nobody would ever free its blocks."""
    node = scene.stale.node
    tokens = token_bytes([1, 2, 3, 4])
    (block,) = scene.cache._pool.take(1)
    left = Node(node, tokens, [block], [block_key(node.keys[-1], tokens)], node.end)
    left.offered = True
    node.children.add(tokens, left)
    caught(scene, "kept from before a reset")


# What may be given up


def test_a_cached_leaf_that_can_not_be_evicted_is_caught(scene: Scene) -> None:
    scene.tree.policy.withdraw(scene.leaf)
    caught(scene, "evictable")


def test_a_cached_tail_that_can_not_be_evicted_is_caught(scene: Scene) -> None:
    scene.tree.policy.withdraw(scene.tail)
    caught(scene, "evictable")


def test_a_held_node_that_could_be_evicted_is_caught(scene: Scene) -> None:
    scene.tree.policy.offer(scene.long.node)
    caught(scene, "evictable")


def test_a_held_tail_that_could_be_evicted_is_caught(scene: Scene) -> None:
    tail = scene.tails[1].tail
    assert tail is not None
    scene.tree.policy.offer(tail)
    caught(scene, "evictable")


def test_a_parent_that_could_be_evicted_before_its_child_is_caught(scene: Scene) -> None:
    scene.tree.policy.offer(scene.branch)
    caught(scene, "evictable")


def test_a_parent_that_was_used_before_its_child_is_caught(scene: Scene) -> None:
    scene.branch.stamp = scene.tail.stamp - 1
    caught(scene, "would outlive its parent")


@pytest.mark.parametrize("change", [1, -1])
def test_a_wrong_number_of_cached_blocks_is_caught(scene: Scene, change: int) -> None:
    scene.tree.cached += change
    caught(scene, "cached count is off")


# Whose a block is


def test_a_block_lost_from_its_lease_is_caught(scene: Scene) -> None:
    scene.lease.blocks.pop()
    caught(scene, "free and used at once, or neither")


def test_a_leaked_block_is_caught(scene: Scene) -> None:
    scene.cache._pool.take(1)
    caught(scene, "free and used at once, or neither")


def test_a_free_block_in_a_lease_is_caught(scene: Scene) -> None:
    scene.lease.blocks.append(scene.free)
    caught(scene, "free and used at once, or neither")


def test_a_findable_block_that_was_given_back_is_caught(scene: Scene) -> None:
    scene.cache._pool.give(scene.leaf.blocks[-1])
    caught(scene, "free and used at once, or neither")


def test_a_block_from_before_a_reset_that_was_given_back_is_caught(scene: Scene) -> None:
    scene.cache._pool.give(scene.stale.node.blocks[0])
    caught(scene, "free and used at once, or neither")


def test_a_block_of_two_leases_is_caught(scene: Scene) -> None:
    scene.lease.blocks.append(scene.long.blocks[-1])
    caught(scene, "owned twice")


def test_a_block_that_is_findable_and_somebodys_own_is_caught(scene: Scene) -> None:
    scene.lease.blocks.append(scene.leaf.blocks[-1])
    caught(scene, "owned twice")


def test_a_tail_that_its_lease_takes_for_its_own_too_is_caught(scene: Scene) -> None:
    lease = scene.tails[0]
    lease.blocks.append(lease.blocks[1])
    caught(scene, "owned twice")


@pytest.mark.parametrize("change", [1, -1])
def test_a_wrong_number_of_free_blocks_is_caught(scene: Scene, change: int) -> None:
    scene.cache._pool.free += change
    caught(scene, "blocks are lost")


# What a node says


def test_a_block_more_than_there_are_tokens_is_caught(scene: Scene) -> None:
    scene.leaf.blocks += scene.cache._pool.take(1)
    scene.tree.cached += 1
    caught(scene, "label and blocks differ")


def test_tokens_more_than_there_are_blocks_are_caught(scene: Scene) -> None:
    scene.leaf.label += token_bytes([7])
    caught(scene, "label and blocks differ")


def test_a_key_of_other_tokens_is_caught(scene: Scene) -> None:
    scene.leaf.keys[-1] = BlockKey(b"other" * 6)
    caught(scene, "keys differ from its tokens")


def test_a_key_too_many_is_caught(scene: Scene) -> None:
    scene.leaf.keys.append(BlockKey(b"other" * 6))
    caught(scene, "keys differ from its tokens")


def test_a_key_of_another_prefix_is_caught(scene: Scene) -> None:
    """Right tokens, wrong parent: what another conversation computed for them."""
    scene.leaf.keys[0] = block_key(scene.branch.keys[-1], bytes(scene.leaf.label[:16]))
    caught(scene, "keys differ from its tokens")


# Where a node is


def test_a_node_in_the_tree_that_knows_no_parent_is_caught(scene: Scene) -> None:
    scene.leaf.parent = None
    caught(scene, "in the tree without a parent")


def test_a_node_that_takes_another_for_its_parent_is_caught(scene: Scene) -> None:
    scene.leaf.parent = scene.branch
    caught(scene, "not its parent's child")


def test_a_node_that_stands_under_other_tokens_is_caught(scene: Scene) -> None:
    scene.leaf.label[0] ^= 1
    caught(scene, "not its parent's child")


@pytest.mark.parametrize("which", ["shared", "leaf", "branch", "tail"])
@pytest.mark.parametrize("change", [1, -1])
def test_a_wrong_depth_is_caught(scene: Scene, which: str, change: int) -> None:
    getattr(scene, which).start += change
    caught(scene, "at the wrong depth")


def test_a_child_of_what_is_not_full_is_caught(scene: Scene) -> None:
    scene.root.keys.clear()
    caught(scene, "behind a partly filled block")


# Tails


def test_a_tail_of_two_blocks_is_caught(scene: Scene) -> None:
    scene.tail.blocks += scene.cache._pool.take(1)
    scene.tree.cached += 1
    caught(scene, "not a tail")


def test_a_full_block_without_a_key_is_caught(scene: Scene) -> None:
    scene.branch.keys.clear()
    caught(scene, "not a tail")


@pytest.mark.parametrize("tokens", [0, 4])
def test_a_tail_that_is_empty_or_full_is_caught(scene: Scene, tokens: int) -> None:
    scene.branch.children.remove(bytes(scene.tail.label))
    scene.tail.label[:] = token_bytes([7] * tokens)
    scene.branch.children.add(bytes(scene.tail.label), scene.tail)
    caught(scene, "not a tail")


def test_a_tail_with_a_child_is_caught(scene: Scene) -> None:
    below = Node(scene.tail, token_bytes([7]), scene.cache._pool.take(1), [], scene.tail.end)
    scene.tail.children.add(token_bytes([7]), below)
    caught(scene, "a tail with children")


@pytest.mark.parametrize("more", [[5], [5, 6, 7]])
def test_an_idle_tail_that_another_block_covers_is_caught(scene: Scene, more: list[int]) -> None:
    stored(scene.cache, [200, 201, 202, 203, 250, *more], tail=True)
    scene.cache.audit()
    scene.branch.children.remove(bytes(scene.tail.label))
    scene.tail.label[:] = token_bytes([250])
    scene.branch.children.add(bytes(scene.tail.label), scene.tail)
    caught(scene, "a tail of no use")


def test_a_tail_that_is_not_behind_its_leases_prefix_is_caught(scene: Scene) -> None:
    one, other, _ = scene.tails
    one.tail, other.tail = other.tail, one.tail
    caught(scene, "not behind its lease's prefix")


def test_a_tail_of_another_lease_is_caught(scene: Scene) -> None:
    _, one, other = scene.tails
    one.tail, other.tail = other.tail, one.tail
    caught(scene, "not its lease's")


# Roots


def test_a_root_that_nobody_needs_is_caught(scene: Scene) -> None:
    """One is left behind by every salt that a client makes up."""
    key = BlockKey(b"nobody" * 5)
    scene.tree.roots[key] = Root(namespace(), key)
    caught(scene, "a root nobody needs")


def test_a_root_with_blocks_is_caught(scene: Scene) -> None:
    scene.root.blocks.append(scene.free)
    caught(scene, "a root with blocks")


def test_a_root_below_something_is_caught(scene: Scene) -> None:
    scene.root.parent = scene.branch
    caught(scene, "a root at the wrong depth")


# Gates


@pytest.fixture
def gate(scene: Scene) -> Root:
    """A tenant's root behind two shared blocks, with one block of its own, held."""
    shared = scene.cache.chain(namespace(tenant="everybody"))
    shared.extend(range(700, 708))
    tokens = range(700, 713)
    lease = scene.cache.acquire(scene.cache.chain(namespace(), shared), tokens)
    assert lease is not None
    scene.cache.publish(lease, tokens)
    scene.cache.audit()
    gate = lease.node.parent
    assert isinstance(gate, Root)
    return gate


def shared_by(gate: Root) -> Node:
    assert gate.parent is not None
    return gate.parent


@pytest.mark.parametrize("change", [1, -1])
def test_a_gate_too_many_or_too_few_is_caught(scene: Scene, gate: Root, change: int) -> None:
    """With one too few, what the gate stands on would be evicted before what lies behind it."""
    shared_by(gate).gates += change
    caught(scene, "gates counted")


def test_a_gate_that_is_not_held_though_it_should_be_is_caught(scene: Scene, gate: Root) -> None:
    gate.holders -= 1
    caught(scene, "holders counted")


def test_a_hold_that_ends_at_a_gate_is_caught(scene: Scene, gate: Root) -> None:
    shared_by(gate).holders -= 1
    caught(scene, "holders counted")


def test_a_gate_in_the_wrong_place_is_caught(scene: Scene, gate: Root) -> None:
    gate.start -= 1
    caught(scene, "a root at the wrong depth")


def test_a_gate_that_stands_on_a_partly_filled_block_is_caught(scene: Scene, gate: Root) -> None:
    tail = scene.tails[0].tail
    assert tail is not None
    gate.parent = tail
    caught(scene, "on a partly filled block")


def test_a_gate_that_others_could_pass_is_caught(scene: Scene, gate: Root) -> None:
    """Among the children of what is shared, another tenant's prompt would find it."""
    shared_by(gate).children.add(token_bytes(range(708, 712)), gate)
    caught(scene, "a gate that others can pass")


def test_a_gate_with_keys_of_other_tokens_is_caught(scene: Scene, gate: Root) -> None:
    gate.keys[1] = BlockKey(b"other" * 6)
    caught(scene, "keys differ from those of what it stands on")


def test_a_root_that_is_found_as_another_is_caught(scene: Scene, gate: Root) -> None:
    """So would a tenant find what is another's."""
    roots = scene.tree.roots
    one, other = gate.keys[0], scene.root.keys[0]
    roots[one], roots[other] = roots[other], roots[one]
    caught(scene, "not the root it is found as")


def test_a_gate_on_what_can_not_be_found_is_caught(scene: Scene, gate: Root) -> None:
    shared = shared_by(gate)
    while shared.parent is not None:
        shared = shared.parent
    del scene.tree.roots[shared.keys[0]]
    caught(scene, "free and used at once, or neither")


def test_a_lease_in_a_namespace_that_is_not_its_own_is_caught(scene: Scene, gate: Root) -> None:
    lease = next(lease for lease in scene.cache._leases if lease.node.parent is gate)
    lease.chain.root = scene.root.keys[0]
    caught(scene, "in another namespace than its lease")


# Leases


def test_a_dead_lease_that_still_holds_blocks_is_caught(scene: Scene) -> None:
    scene.lease.live = False
    caught(scene, "a dead lease holds blocks")


def test_a_lease_that_reads_its_blocks_out_of_order_is_caught(scene: Scene) -> None:
    """Same blocks, same counts, but the tokens would read each other's KV."""
    blocks = scene.long.blocks
    blocks[0], blocks[1] = blocks[1], blocks[0]
    caught(scene, "not what its lease reads")


def test_a_lease_that_reads_another_block_than_is_findable_is_caught(scene: Scene) -> None:
    scene.stale.blocks[0] = scene.long.blocks[0]
    caught(scene, "not what its lease reads")


def test_a_lease_of_other_tokens_than_its_prefix_is_caught(scene: Scene) -> None:
    scene.long.chain.data[4 * 7] ^= 1
    caught(scene, "other tokens than its lease's")


def test_a_lease_of_other_tokens_than_its_tail_is_caught(scene: Scene) -> None:
    scene.tails[0].chain.data[4 * 5] ^= 1
    caught(scene, "other tokens than its lease's")


# Announcements


def test_an_announcement_of_nobody_is_caught(scene: Scene) -> None:
    scene.cache._announced[Announcement(scene.branch, token_bytes([7]))] += 1
    caught(scene, "announcements differ")


@pytest.mark.parametrize("change", [1, -1])
def test_an_announcement_that_is_counted_wrongly_is_caught(scene: Scene, change: int) -> None:
    ahead = scene.lease.announcement
    assert ahead is not None
    scene.cache._announced[ahead] += change
    caught(scene, "announcements differ")


def test_an_announcement_that_its_lease_forgot_is_caught(scene: Scene) -> None:
    scene.lease.announcement = None
    caught(scene, "announcements differ")


# Pins


@pytest.fixture
def pinned(scene: Scene) -> Node:
    """Two nodes of one block each, and nothing else, are pinned."""
    stored(scene.cache, range(600, 608))
    chain = scene.cache.chain(namespace())
    for tokens in (range(600, 604), range(600, 608)):
        assert scene.cache.pin(chain, tokens, ttl=60) is not None
    scene.cache.audit()
    (pin,) = [pin for pin in scene.cache.pins("acme") if pin.tokens == 8]
    return pin.node


@pytest.mark.parametrize("change", [1, -1])
def test_a_pin_too_many_or_too_few_is_caught(scene: Scene, pinned: Node, change: int) -> None:
    pinned.pins += change
    caught(scene, "pins counted")


def test_a_pin_of_what_nobody_pinned_is_caught(scene: Scene) -> None:
    scene.branch.pins += 1
    caught(scene, "1 pins counted, 0 there")


@pytest.mark.parametrize("change", [1, -1])
def test_a_wrong_number_of_pinned_blocks_is_caught(scene: Scene, pinned: Node, change: int) -> None:
    scene.tree.retention._used["acme"] += change
    caught(scene, "blocks counted as pinned")


def test_more_pins_than_the_budget_allows_are_caught(scene: Scene, pinned: Node) -> None:
    scene.tree.retention.budget = 1
    caught(scene, "more is pinned than the budget allows")


def test_a_root_that_only_its_tenant_knows_is_caught(scene: Scene) -> None:
    key = BlockKey(b"nobody" * 5)
    scene.tree.tenants["acme"][key] = Root(namespace(), key)
    caught(scene, "another tenant's root")


# The dict of keys


with_hashes = pytest.mark.parametrize("index", [HashIndex.name])


@pytest.fixture
def nodes(scene: Scene) -> dict[BlockKey, Node]:
    assert isinstance(scene.tree.index, HashIndex)
    return scene.tree.index._nodes


@with_hashes
@pytest.mark.parametrize("which", ["shared", "leaf", "branch"])
def test_a_key_missing_from_the_index_is_caught(
    scene: Scene, nodes: dict[BlockKey, Node], which: str
) -> None:
    del nodes[getattr(scene, which).keys[0]]
    caught(scene, "not where the index says")


@with_hashes
def test_a_key_that_leads_to_another_block_is_caught(
    scene: Scene, nodes: dict[BlockKey, Node]
) -> None:
    nodes[scene.leaf.keys[0]] = scene.branch
    caught(scene, "not where the index says")


@with_hashes
def test_a_key_in_the_index_that_no_node_has_is_caught(
    scene: Scene, nodes: dict[BlockKey, Node]
) -> None:
    nodes[BlockKey(b"stale" * 6)] = scene.leaf
    caught(scene, "index and tree differ in number")


@with_hashes
def test_a_key_from_before_a_reset_is_caught(scene: Scene, nodes: dict[BlockKey, Node]) -> None:
    nodes[scene.stale.node.keys[0]] = scene.stale.node
    caught(scene, "index and tree differ in number")


@with_hashes
def test_two_blocks_under_one_key_are_caught(scene: Scene, nodes: dict[BlockKey, Node]) -> None:
    leaf, tokens = scene.leaf, token_bytes([1, 2, 3, 4])
    leaf.keys.append(block_key(leaf.keys[-1], tokens))
    leaf.label += tokens
    leaf.blocks += scene.cache._pool.take(1)
    scene.tree.cached += 1
    caught(scene, "more than one block under one key")
