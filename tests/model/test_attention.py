"""Paged attention in fp32 against dense attention in fp64.

TOLERANCE: outputs are convex combinations of values of at most about 5; scores, sums and merges
over at most a thousand keys cost some tens of fp32 roundings (6e-8 each).
"""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search import examples
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from headstart.model.attention import PagedAttention, Partial, partial_cpu, partial_reference
from headstart.model.config import ModelConfig, RopeConfig
from headstart.model.kv import KVPool
from headstart.model.plan import Rows, plan_attention

TOLERANCE = 2e-5
HEADS, KV_HEADS, DIM, SIZE, BLOCKS = 6, 2, 16, 16, 270


def shape(kv_heads: int = KV_HEADS) -> ModelConfig:
    return ModelConfig(
        family="llama",
        vocab_size=32,
        hidden_size=HEADS * DIM,
        layers=2,
        query_heads=HEADS,
        kv_heads=kv_heads,
        head_dim=DIM,
        ffn_size=32,
        context_length=2048,
        norm_eps=1e-5,
        rope=RopeConfig(10_000.0),
        tied_head=True,
        qkv_bias=False,
        qk_norm=False,
        eos_ids=(0,),
        bos_id=None,
    )


def filled_pool(kv_heads: int = KV_HEADS, block_size: int = SIZE) -> KVPool:
    """A pool whose every slot holds something, so that reading a wrong one shows."""
    pool = KVPool(
        shape(kv_heads),
        blocks=BLOCKS,
        block_size=block_size,
        dtype=torch.float32,
        device=torch.device("cpu"),
    )
    generator = torch.Generator().manual_seed(1)
    for layer in range(2):
        for half in pool.layer(layer):
            half.normal_(generator=generator)
    return pool


def slots_of(rows: Rows, size: int) -> Tensor:
    """The pool slots of positions 0 to the last new one."""
    return torch.tensor(
        [rows.blocks[at // size] * size + at % size for at in range(rows.start + rows.count)]
    )


def dense(pool: KVPool, layer: int, queries: Tensor, sequences: list[Rows]) -> Tensor:
    """Each row over its sequence's positions up to its own, from the definition, in fp64."""
    group = queries.shape[1] // pool.layer(layer)[0].shape[0]
    keys, values = (half.double().repeat_interleave(group, 0) for half in pool.layer(layer))
    out = torch.empty_like(queries, dtype=torch.float64)
    for rows in sequences:
        slots = slots_of(rows, pool.block_size)
        for offset in range(rows.count):
            seen = slots[: rows.start + offset + 1]
            query = queries[rows.first + offset].double()
            weights = (torch.einsum("hsd,hd->hs", keys[:, seen], query) / DIM**0.5).softmax(-1)
            out[rows.first + offset] = torch.einsum("hs,hsd->hd", weights, values[:, seen])
    return out


def paged(
    pool: KVPool,
    layer: int,
    queries: Tensor,
    sequences: list[Rows],
    *,
    whole: bool = False,
    partial: Partial = partial_cpu,
) -> Tensor:
    """The same by the code under test. The step's own keys and values are those in the pool."""
    new = torch.cat([slots_of(rows, pool.block_size)[rows.start :] for rows in sequences])
    keys, values = (half[:, new].transpose(0, 1) for half in pool.layer(layer))
    plan = plan_attention(sequences, pool.block_size, whole=whole)
    return PagedAttention(plan, pool, partial=partial)(layer, queries, keys, values)


def queries_for(sequences: list[Rows]) -> Tensor:
    count = sum(rows.count for rows in sequences)
    return torch.randn(count, HEADS, DIM, generator=torch.Generator().manual_seed(2))


@st.composite
def mixed_steps(draw: st.DrawFn) -> tuple[list[Rows], int]:
    """Decodes and chunks, alone and behind a shared prefix, in tidy and in scattered pools."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    size = draw(st.sampled_from([1, 4, 16]))
    free = list(range(BLOCKS))
    if draw(st.booleans()):
        rng.shuffle(free)
    prefix = [free.pop(0) for _ in range(rng.randint(0, 12))]
    sequences: list[Rows] = []
    first = 0
    for _ in range(draw(st.integers(1, 5))):
        shared = prefix[: rng.choice([0, len(prefix), rng.randint(0, len(prefix))])]
        start = len(shared) * size + rng.randint(0, 7 * size)
        count = rng.choice([1, 1, 2, 2 * size + 5])
        missing = -(-(start + count) // size) - len(shared)
        table = shared + [free.pop(0) for _ in range(missing)]
        sequences.append(Rows(first, count, start, table))
        first += count
    return sequences, size


@settings(max_examples=examples(40))
@given(
    step=mixed_steps(),
    whole=st.booleans(),
    kv_heads=st.sampled_from([1, 2, 6]),
    partial=st.sampled_from([partial_cpu, partial_reference]),
)
def test_any_step_over_any_placement_is_dense_causal_attention(
    step: tuple[list[Rows], int], whole: bool, kv_heads: int, partial: Partial
) -> None:
    sequences, size = step
    pool, queries = filled_pool(kv_heads, size), queries_for(sequences)
    ours = paged(pool, 1, queries, sequences, whole=whole, partial=partial)
    expected = dense(pool, 1, queries, sequences)
    assert ours.dtype == queries.dtype
    torch.testing.assert_close(ours.double(), expected, atol=TOLERANCE, rtol=0)


def test_long_runs_apart_and_short_ones_between_are_joined_right() -> None:
    blocks = [*range(30, 40), 100, 102, *range(9), 104, *range(50, 58)]
    sequences = [Rows(0, 1, 30 * SIZE - 3, blocks)]
    queries = queries_for(sequences)
    pool = filled_pool()
    expected = dense(pool, 0, queries, sequences)
    ours = paged(pool, 0, queries, sequences)
    torch.testing.assert_close(ours.double(), expected, atol=TOLERANCE, rtol=0)


def test_scores_far_beyond_the_range_of_exp_are_merged_without_overflow() -> None:
    pool = filled_pool()
    keys, _ = pool.layer(0)
    keys.mul_(100)
    table = [*range(40, 50), *range(8)]  # two runs: their scores differ by hundreds
    sequences = [Rows(0, 1, 18 * SIZE - 1, table)]
    queries = queries_for(sequences)
    ours = paged(pool, 0, queries, sequences)
    expected = dense(pool, 0, queries, sequences)
    # Scores of several hundred carry an absolute rounding of 3e-5 each, which weighs the values.
    torch.testing.assert_close(ours.double(), expected, atol=1e-3, rtol=0)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("size", [1, 7, 64, 300])
def test_the_cpu_kernel_returns_the_output_and_the_log_sum_exp_of_the_definition(
    causal: bool, size: int
) -> None:
    generator = torch.Generator().manual_seed(size)
    queries, keys, values = torch.randn(3, HEADS, size, DIM, generator=generator)
    output, lse = partial_cpu(queries, keys, values, causal=causal)
    expected, expected_lse = partial_reference(
        queries.double(), keys.double(), values.double(), causal=causal
    )
    assert lse.dtype == torch.float32
    torch.testing.assert_close(lse, expected_lse.float(), atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(output, expected.float(), atol=TOLERANCE, rtol=0)


def test_the_reference_is_softmax_attention() -> None:
    generator = torch.Generator().manual_seed(3)
    queries, keys, values = torch.randn(3, HEADS, 20, DIM, generator=generator)
    for causal in (False, True):
        output, lse = partial_reference(queries, keys, values, causal=causal)
        expected = torch.nn.functional.scaled_dot_product_attention(
            queries, keys, values, is_causal=causal
        )
        torch.testing.assert_close(output, expected, atol=TOLERANCE, rtol=0)
        scores = queries.double() @ keys.double().transpose(-1, -2) / DIM**0.5
        if causal:
            scores += torch.full((20, 20), float("-inf"), dtype=torch.float64).triu(1)
        torch.testing.assert_close(lse.double(), scores.exp().sum(-1).log(), atol=1e-5, rtol=0)


class LargestNewTensor(TorchDispatchMode):
    """The most elements any operation wrote outside the memory it was given to begin with."""

    def __init__(self, known: Iterator[Tensor]) -> None:
        super().__init__()
        self._known = {tensor.untyped_storage().data_ptr() for tensor in known}
        self.elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else [result]:
            if (
                isinstance(tensor, Tensor)
                and tensor.untyped_storage().data_ptr() not in self._known
            ):
                self.elements = max(self.elements, tensor.numel())
        return result


def largest_new_tensor(table: list[int], context: int) -> int:
    pool = filled_pool()
    sequences = [Rows(0, 1, context - 1, table)]
    queries = queries_for(sequences)
    own = torch.randn(1, KV_HEADS, DIM)
    attention = PagedAttention(plan_attention(sequences, SIZE), pool, partial=partial_cpu)
    known = [half for layer in range(2) for half in pool.layer(layer)]
    with LargestNewTensor(iter([*known, queries, own])) as watch:
        pool.write(0, torch.tensor([table[-1] * SIZE]), own, own)
        attention(0, queries, own, own)
    return watch.elements


def test_a_decode_step_copies_none_of_a_context_that_lies_in_long_runs() -> None:
    context = 150 * SIZE
    assert largest_new_tensor(list(range(150)), context) < context  # a copy has 32 times as many
    halves = [*range(180, 255), *range(75)]
    assert largest_new_tensor(halves, context) < context


def test_the_watch_above_sees_the_copy_that_a_scattered_context_needs() -> None:
    table = random.Random(0).sample(range(BLOCKS), 150)
    assert largest_new_tensor(table, 150 * SIZE) > 100 * SIZE * KV_HEADS * DIM
