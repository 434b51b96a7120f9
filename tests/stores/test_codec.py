import builtins
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stores.build import Rough

from headstart.stores import Raw, Zstd
from headstart.stores.codec import FP8, INT8, Codec, codec_of
from headstart.stores.errors import CodecMissing, Corrupt, WrongVersion

CODECS = [Raw(), Zstd()]


def scratch(length: int) -> memoryview:
    return memoryview(bytearray(length))


@given(st.binary(max_size=5000), st.sampled_from(CODECS))
def test_what_is_packed_is_unpacked(payload: bytes, codec: Codec) -> None:
    into = scratch(len(payload))
    codec.unpack(codec.pack(payload), into)
    assert into == payload


@pytest.mark.parametrize("codec", CODECS, ids=["raw", "zstd"])
@pytest.mark.parametrize("length", [0, 1, 999, 1001, 5000])
def test_another_length_than_announced_is_damage(codec: Codec, length: int) -> None:
    with pytest.raises(Corrupt, match="length"):
        codec.unpack(codec.pack(bytes(1000)), scratch(length))


def test_a_frame_never_writes_beyond_its_buffer() -> None:
    memory = bytearray(b"x" * 100)
    with pytest.raises(Corrupt):
        Zstd().unpack(Zstd().pack(bytes(1 << 20)), memoryview(memory)[:50])
    assert memory[50:] == b"x" * 50


@given(st.binary(max_size=200))
def test_noise_is_damage(noise: bytes) -> None:
    with pytest.raises(Corrupt):
        Zstd().unpack(noise, scratch(100))


@pytest.mark.parametrize("codec", CODECS, ids=["raw", "zstd"])
def test_a_codec_is_found_by_its_id(codec: Codec) -> None:
    assert codec_of(codec.id).id == codec.id


@pytest.mark.parametrize("codec_id", [INT8, FP8])
def test_a_lossy_codec_is_known_only_to_who_passes_it_in(codec_id: int) -> None:
    with pytest.raises(WrongVersion, match="allowed"):
        codec_of(codec_id)
    mine = Rough(codec_id)
    assert codec_of(codec_id, mine) is mine
    assert codec_of(0, mine).id == 0


@pytest.mark.parametrize("codec_id", [4, 65535])
def test_other_ids_belong_to_later_releases(codec_id: int) -> None:
    with pytest.raises(WrongVersion):
        codec_of(codec_id)


def test_zstd_without_its_package_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "zstandard":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(CodecMissing, match="needs the package zstandard"):
        Zstd()
