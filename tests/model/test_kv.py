"""Blocks out of the pool and back. Other tests of the pool are those of the runner."""

import random
import warnings
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from headstart.model.config import ModelConfig
from headstart.model.kv import KVPool, kv_bytes_per_token

BLOCKS = 12


def config(**shape: int) -> ModelConfig:
    """As much of one as the pool looks at."""
    return cast(
        ModelConfig, SimpleNamespace(**{"layers": 2, "kv_heads": 2, "head_dim": 4, **shape})
    )


def pool(block_size: int, dtype: torch.dtype = torch.float32, *, seed: int = 0) -> KVPool:
    """Every number in it is another one, as far as the type goes."""
    made = KVPool(
        config(), blocks=BLOCKS, block_size=block_size, dtype=dtype, device=torch.device("cpu")
    )
    draw = torch.Generator().manual_seed(seed)
    made._data.copy_(torch.randn(made._data.shape, generator=draw))
    return made


def block(of: KVPool, number: int) -> torch.Tensor:
    size = of.block_size
    return of._data[..., number * size : (number + 1) * size, :]


def equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.equal(one.contiguous().view(torch.uint8), other.contiguous().view(torch.uint8))


@pytest.mark.parametrize("block_size", [1, 16, 784])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_blocks_come_back_bit_for_bit_wherever_they_are_written(
    block_size: int, dtype: torch.dtype
) -> None:
    source, target = pool(block_size, dtype), pool(block_size, dtype, seed=1)
    untouched = target._data.clone()
    taken, given = [3, 4, 5, 9, 1], [0, 7, 8, 2, 3]
    data = source.read_blocks(taken)
    assert data.nbytes == 5 * block_size * kv_bytes_per_token(config(), dtype)
    target.write_blocks(given, data)
    for one, other in zip(taken, given, strict=True):
        assert equal(block(source, one), block(target, other))
    for other in set(range(BLOCKS)) - set(given):
        at = slice(other * block_size, (other + 1) * block_size)
        assert equal(block(target, other), untouched[..., at, :])


def test_any_blocks_in_any_order_make_the_same_trip() -> None:
    draw = random.Random(3)
    for _ in range(100):
        source, target = pool(2), pool(2, seed=1)
        count = draw.randrange(1, BLOCKS)
        taken, given = draw.sample(range(BLOCKS), count), draw.sample(range(BLOCKS), count)
        target.write_blocks(given, source.read_blocks(taken))
        assert all(
            equal(block(source, one), block(target, other))
            for one, other in zip(taken, given, strict=True)
        )


@pytest.mark.parametrize("skip", range(5))
def test_what_is_skipped_is_not_written_and_the_rest_lies_where_it_belongs(skip: int) -> None:
    source, target = pool(4), pool(4, seed=1)
    before = target._data.clone()
    taken, given = [0, 1, 5, 6], [8, 9, 10, 3]
    target.write_blocks(given[skip:], source.read_blocks(taken), skip)
    for place, (one, other) in enumerate(zip(taken, given, strict=True)):
        there = block(target, other)
        if place < skip:
            assert equal(there, before[..., other * 4 : other * 4 + 4, :])
        else:
            assert equal(there, block(source, one))


def test_what_was_read_is_a_copy_that_later_writes_do_not_reach() -> None:
    source, target = pool(4), pool(4, seed=1)
    before = block(source, 2).clone()
    data = source.read_blocks([2])
    source._data.zero_()
    target.write_blocks([0], data)
    assert equal(block(target, 0), before)


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_every_kind_of_buffer_a_store_gives_is_taken_without_a_warning(kind: Any) -> None:
    source, target = pool(4), pool(4, seed=1)
    data = bytearray(source.read_blocks([1, 2]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        target.write_blocks([5, 6], kind(data))
    assert equal(block(target, 6), block(source, 2))


@pytest.mark.parametrize("change", [-4, 4])
def test_a_payload_of_another_length_is_refused_and_nothing_written(change: int) -> None:
    target = pool(4)
    before = target._data.clone()
    data = bytearray(target.read_blocks([1]))
    wrong = data + bytes(change) if change > 0 else data[:change]
    with pytest.raises(RuntimeError):
        target.write_blocks([2], wrong)
    assert equal(target._data, before)


def test_copies_run_in_order_so_that_a_source_may_be_a_target_later() -> None:
    made = pool(4)
    before = [block(made, number).clone() for number in range(4)]
    copies: Sequence[tuple[int, int, int]] = [(0, 1, 3), (2, 0, 4), (1, 3, 2)]
    made.copy_all(copies)
    assert equal(block(made, 1)[..., :3, :], before[0][..., :3, :])
    assert equal(block(made, 1)[..., 3:, :], before[1][..., 3:, :])
    assert equal(block(made, 0), before[2])
    assert equal(block(made, 3)[..., :2, :], before[0][..., :2, :])
