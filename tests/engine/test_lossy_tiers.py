import asyncio
import random
from pathlib import Path

import pytest
from tests.engine.drive import Outcome, answer, running
from tests.engine.tiered import CHUNK, drained, tiered

from headstart.engine.open_tiers import TierError
from headstart.model.load import LoadedModel
from headstart.stores.codec import FP8, INT8
from headstart.stores.inspect import chunks

PROMPT = [random.Random(3).randrange(200) for _ in range(2 * CHUNK + 9)]


async def ask(loaded: LoadedModel, folder: Path, codec: str) -> Outcome:
    """In an engine of its own."""
    async with tiered(loaded, disk=str(folder), tier_codec=codec) as engine:
        outcome = await answer(engine, PROMPT)
        await drained(engine)
    return outcome


@pytest.mark.parametrize(("name", "codec_id"), [("int8", INT8), ("fp8", FP8)])
def test_lossy_kv_is_read_only_by_a_server_that_allows_it(
    tiny: LoadedModel, tmp_path: Path, name: str, codec_id: int
) -> None:
    async def main() -> None:
        cold = await ask(tiny, tmp_path, name)
        found = list(chunks(tmp_path, verify=True))
        assert {chunk.header and (chunk.header.codec, chunk.header.lossy) for chunk in found} == {
            (codec_id, True)
        }
        other = "fp8" if name == "int8" else "int8"
        for stranger in ("raw", other):
            assert (await ask(tiny, tmp_path, stranger)).reuse.loaded == {}
        warm = await ask(tiny, tmp_path, name)
        assert warm.reuse.loaded == {"disk": 2 * CHUNK}
        assert [chunk.problem for chunk in chunks(tmp_path, verify=True) if chunk.problem] == []
        # Near, not equal: what exactly is lost is tested in tests/model/test_lossy.py.
        assert warm.tokens[0].logprob == pytest.approx(cold.tokens[0].logprob, abs=0.25)

    asyncio.run(main())


def test_a_server_that_allows_lossy_kv_takes_it_for_no_other_servers_exact_kv(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    async def main() -> None:
        await ask(tiny, tmp_path, "raw")
        assert (await ask(tiny, tmp_path, "int8")).reuse.loaded == {}
        assert (await ask(tiny, tmp_path, "raw")).reuse.loaded == {"disk": 2 * CHUNK}

    asyncio.run(main())


def test_deterministic_mode_and_lossy_kv_exclude_each_other(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    async def main() -> None:
        async with running(tiny, disk=str(tmp_path), tier_codec="int8", deterministic=True):
            pass

    with pytest.raises(TierError, match="every bit"):
        asyncio.run(main())
