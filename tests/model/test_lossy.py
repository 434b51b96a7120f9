import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search import examples
from torch import Tensor

from headstart.model.lossy import EightBit, eight_bit
from headstart.stores.codec import FP8, INT8
from headstart.stores.errors import Corrupt

SHAPE = (3, 2, 2, 32, 8)
BLOCK = 16
DTYPES = [torch.float32, torch.bfloat16, torch.float16]
STEP = {"int8": 0.5 / 127, "fp8": 2.0**-4}
"""int8: half a step of the scale. fp8 (e4m3): half a unit of 3 bits, relative to the value."""


def codec(name: str, dtype: torch.dtype = torch.bfloat16) -> EightBit:
    made = eight_bit(name, shape=SHAPE, dtype=dtype, block_size=BLOCK)
    assert made is not None
    return made


def kv(seed: int, dtype: torch.dtype = torch.bfloat16, spread: float = 3.0) -> Tensor:
    """Heads and layers of very different sizes."""
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.exp(spread * torch.randn((3, 2, 2, 1, 1), generator=generator))
    return (torch.randn(SHAPE, generator=generator) * sizes).clamp(-60_000, 60_000).to(dtype)


def buffer(values: Tensor) -> bytearray:
    return bytearray(values.contiguous().view(torch.uint8).flatten().numpy().tobytes())


def trip(name: str, values: Tensor) -> tuple[bytes, Tensor]:
    """What is stored of it, and what comes back."""
    made = codec(name, values.dtype)
    stored = bytearray(made.pack(buffer(values)))
    back = bytearray(values.nbytes)
    made.unpack(stored, memoryview(back))
    return bytes(stored), torch.frombuffer(back, dtype=values.dtype).view(SHAPE)


@pytest.mark.parametrize("name", ["int8", "fp8"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_value_is_further_off_than_half_a_step_of_its_block_and_head(
    name: str, dtype: torch.dtype
) -> None:
    values = kv(1, dtype)
    _, back = trip(name, values)
    exact, found = values.double(), back.double()
    blocks = exact.view(3, 2, 2, 2, BLOCK, 8).abs().amax((-1, -2), keepdim=True)
    most = blocks.expand(3, 2, 2, 2, BLOCK, 8).reshape(SHAPE)
    rounding = torch.finfo(dtype).eps * exact.abs()
    if name == "int8":
        allowed = STEP[name] * most
    else:  # Below its smallest normal number the steps are equal.
        allowed = torch.maximum(STEP[name] * exact.abs(), most / 448 * 2.0**-10)
    assert ((found - exact).abs() <= 1.001 * allowed + rounding).all()


@pytest.mark.parametrize("name", ["int8", "fp8"])
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=examples(20))
@given(seed=st.integers(0, 1000))
def test_packing_what_was_unpacked_gives_the_same_bytes(
    name: str, dtype: torch.dtype, seed: int
) -> None:
    stored, back = trip(name, kv(seed, dtype))
    again, same = trip(name, back)
    assert again == stored
    assert torch.equal(back, same)


@pytest.mark.parametrize("name", ["int8", "fp8"])
def test_zeros_stay_zeros(name: str) -> None:
    _, back = trip(name, torch.zeros(SHAPE))
    assert torch.equal(back, torch.zeros(SHAPE))


@pytest.mark.parametrize(("name", "codec_id"), [("int8", INT8), ("fp8", FP8)])
def test_it_takes_half_of_bf16_and_is_marked_lossy(name: str, codec_id: int) -> None:
    values = kv(2)
    stored, _ = trip(name, values)
    scales = 4 * 3 * 2 * 2 * (32 // BLOCK)
    assert len(stored) == values.nbytes // 2 + scales
    assert (codec(name).id, codec(name).lossy) == (codec_id, True)


@pytest.mark.parametrize("name", ["int8", "fp8"])
def test_another_length_than_the_kvs_is_damage(name: str) -> None:
    made, values = codec(name), kv(3)
    stored = bytearray(made.pack(buffer(values)))
    with pytest.raises(Corrupt, match="length"):
        made.unpack(stored[:-1], memoryview(bytearray(values.nbytes)))
    with pytest.raises(Corrupt, match="shape"):
        made.unpack(stored, memoryview(bytearray(values.nbytes - 2)))
    with pytest.raises(ValueError, match="shape"):
        made.pack(buffer(values)[:-2])


def test_other_codecs_are_none_of_its_business() -> None:
    assert eight_bit("zstd", shape=SHAPE, dtype=torch.float32, block_size=BLOCK) is None
