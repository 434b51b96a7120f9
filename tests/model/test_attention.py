"""Paged attention against the definition: dense, masked, in float64."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from headstart.model.attention import PagedAttention, partial_cpu, partial_reference
from headstart.model.config import ModelConfig, RopeConfig
from headstart.model.kv import KVPool
from headstart.model.plan import Rows, plan_attention

HEADS, KV_HEADS, DIM = 6, 2, 16
CPU = torch.device("cpu")


def pool_of(blocks: int, block_size: int) -> KVPool:
    config = ModelConfig(
        family="llama",
        vocab_size=8,
        hidden_size=HEADS * DIM,
        layers=1,
        query_heads=HEADS,
        kv_heads=KV_HEADS,
        head_dim=DIM,
        ffn_size=8,
        context_length=4096,
        norm_eps=1e-5,
        rope=RopeConfig(10_000.0),
        tied_head=True,
        qkv_bias=False,
        qk_norm=False,
        eos_ids=(),
        bos_id=None,
    )
    pool = KVPool(config, blocks=blocks, block_size=block_size, dtype=torch.float32, device=CPU)
    for part in pool.layer(0):
        part.normal_()
    return pool


def slots(rows: Rows, size: int) -> Tensor:
    """The pool slots of positions 0 to the last new one."""
    return torch.tensor(
        [rows.blocks[p // size] * size + p % size for p in range(rows.start + rows.count)]
    )


def dense(queries: Tensor, keys: Tensor, values: Tensor, start: int) -> Tensor:
    """[count, HEADS, DIM] by the textbook, in float64."""
    group = HEADS // KV_HEADS
    out = torch.empty(queries.shape, dtype=torch.float64)
    for row in range(len(queries)):
        for head in range(HEADS):
            seen = slice(0, start + row + 1)
            k, v = keys[head // group, seen].double(), values[head // group, seen].double()
            weights = (k @ queries[row, head].double() / DIM**0.5).softmax(0)
            out[row, head] = weights @ v
    return out


def check(sequences: Sequence[Rows], pool: KVPool, *, whole: bool) -> None:
    size, count = pool.block_size, sum(rows.count for rows in sequences)
    queries = torch.randn(count, HEADS, DIM)
    pool_keys, pool_values = pool.layer(0)
    new = torch.cat([slots(rows, size)[rows.start :] for rows in sequences])
    keys, values = (part[:, new].transpose(0, 1) for part in (pool_keys, pool_values))
    plan = plan_attention(sequences, size, whole=whole)
    for partial in (partial_cpu, partial_reference):
        result = PagedAttention(plan, pool, partial=partial)(0, queries, keys, values)
        for rows in sequences:
            own = slots(rows, size)
            mine = slice(rows.first, rows.first + rows.count)
            right = dense(queries[mine], pool_keys[:, own], pool_values[:, own], rows.start)
            # fp32 sums of some hundred terms of size 1: errors of a few 1e-6.
            torch.testing.assert_close(result[mine].double(), right, atol=2e-5, rtol=0)


def random_step(rng: random.Random, size: int) -> tuple[list[Rows], int]:
    """Sequences that share leading full blocks, branch, and lie scattered or in runs."""
    total, free = 120, list(range(120))
    if rng.random() < 0.5:
        rng.shuffle(free)
    shared = [free.pop(0) for _ in range(rng.randint(0, 12))]
    sequences, first = [], 0
    for _ in range(rng.randint(1, 4)):
        common = shared[: rng.randint(0, len(shared))]
        count = rng.choice([1, 1, 1, 2, 5, 3 * size])
        # New tokens never lie in a shared block: it is full, and nobody's to write.
        start = len(common) * size + rng.randint(0, 3 * size)
        need = -(-(start + count) // size) - len(common)
        sequences.append(Rows(first, count, start, common + [free.pop(0) for _ in range(need)]))
        first += count
    return sequences, total


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 4, 16]), st.booleans())
def test_any_step_over_any_placement_is_dense_causal_attention(
    seed: int, size: int, whole: bool
) -> None:
    torch.manual_seed(seed)
    sequences, blocks = random_step(random.Random(seed), size)
    check(sequences, pool_of(blocks, size), whole=whole)


def test_long_runs_apart_are_joined_right() -> None:
    blocks = [*range(30, 40), *range(0, 9), *range(50, 58)]
    check([Rows(0, 1, 26 * 16 + 3, blocks)], pool_of(60, 16), whole=False)


def test_a_shared_prefix_is_one_segment_for_all_who_share_it() -> None:
    prefix = list(range(8))
    plan = plan_attention(
        [Rows(at, 1, 8 * 16 + at, [*prefix, 20 + at]) for at in range(3)], block_size=16
    )
    first, *rest = plan.segments
    assert first.rows == (0, 1, 2)
    assert [(run.slot, run.length) for run in first.runs] == [(0, 128)]
    assert [(segment.rows, segment.runs[0].length) for segment in rest] == [
        ((0,), 1),
        ((1,), 2),
        ((2,), 3),
    ]


def test_a_whole_plan_does_not_depend_on_what_else_is_in_the_step() -> None:
    rows = [Rows(0, 4, 32, [3, 4, 9]), Rows(4, 1, 40, [3, 4, 7])]
    together = plan_attention(rows, 16, whole=True)
    assert [segment.rows for segment in together.segments] == [(0, 1, 2, 3), (4,)]


class LargestResult(TorchDispatchMode):
    """Notes the size of the largest tensor that an operation newly allocates."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        inputs = {a.untyped_storage().data_ptr() for a in args if isinstance(a, Tensor)}
        for out in result if isinstance(result, tuple) else (result,):
            if isinstance(out, Tensor) and out.untyped_storage().data_ptr() not in inputs:
                self.largest = max(self.largest, out.numel())
        return result


@pytest.mark.parametrize("blocks", [range(256), [*range(300, 428), *range(128)]])
def test_a_decode_step_copies_no_context(blocks: Sequence[int]) -> None:
    pool = pool_of(430, 16)
    attention = PagedAttention(
        plan_attention([Rows(0, 1, 4095, list(blocks))], 16), pool, partial=partial_cpu
    )
    one = torch.randn(1, KV_HEADS, DIM)
    with LargestResult() as seen:
        attention(0, torch.randn(1, HEADS, DIM), one, one)
    assert 0 < seen.largest < 4096  # one head's keys alone are 4096 * DIM


def test_the_kernel_and_the_definition_agree_on_the_log_sum_exp() -> None:
    torch.manual_seed(1)
    queries, keys, values = (torch.randn(KV_HEADS, 37, DIM) for _ in range(3))
    for causal in (False, True):
        fast = partial_cpu(queries, keys, values, causal=causal)
        slow = partial_reference(queries, keys, values, causal=causal)
        torch.testing.assert_close(fast, slow, atol=1e-5, rtol=1e-5)
