"""What KV at rest in eight bits loses: errors of keys and values, and greedy answers that differ.

    python benchmarks/lossy.py [--prompts 50] [--length 520] [--answer 32]

The default model answers prompts cut from Python's own library. Once all is computed (cold); then,
for every codec, one server stores the prompts' KV and the next one, over the same directory, loads
it. `raw` is the control: what differs there comes from computing in other shapes.
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch

from headstart.engine.api import GenerateRequest
from headstart.engine.build import build_engine
from headstart.engine.core import LocalEngine
from headstart.model.default import DEFAULT_MODEL
from headstart.model.load import LoadedModel, load_model
from headstart.model.lossy import eight_bit
from headstart.model.params import SamplingParams
from headstart.settings import Settings
from headstart.stores.inspect import chunks
from headstart.stores.record import fill_from, read_header, read_payload

CODECS = ("raw", "int8", "fp8")
Answer = tuple[int, ...]


def prompts_of(loaded: LoadedModel, count: int, length: int) -> list[list[int]]:
    """Stretches of the standard library's longest modules, one each."""
    folder = Path(os.__file__).parent
    files = sorted(folder.glob("*.py"), key=lambda file: (-file.stat().st_size, file.name))
    found = []
    for file in files:
        ids = loaded.codec.encode(file.read_text(errors="ignore")[: 12 * length])
        if len(ids) >= length:
            found.append(list(ids[:length]))
        if len(found) == count:
            break
    return found


async def answers(
    engine: LocalEngine, prompts: Sequence[Sequence[int]], tokens: int
) -> tuple[list[Answer], int]:
    """Greedy answers, one after the other, and how many tokens came from a tier."""
    found, loaded = [], 0
    params = SamplingParams(max_tokens=tokens, temperature=0.0, logprobs=1)
    for prompt in prompts:
        generation = engine.submit(GenerateRequest(id="bench", prompt=prompt, params=params))
        ids: list[int] = []
        async for chunk in generation:
            ids += [token.token_id for token in chunk.logprobs]
        found.append(tuple(ids))
        loaded += sum(generation.reuse.loaded.values())
    return found, loaded


def errors(loaded: LoadedModel, folder: Path, codec: str, block_size: int) -> tuple[float, ...]:
    """The greatest relative error of any layer of any chunk: of keys, of values (Frobenius)."""
    config, dtype = loaded.config, loaded.weights.embed.dtype
    worst = torch.zeros(2)
    for chunk in chunks(folder):
        data = chunk.path.read_bytes()
        header = read_header(fill_from(data), len(data))
        payload = read_payload(fill_from(data[header.length :]), header).payload
        exact = torch.frombuffer(payload, dtype=dtype)
        tokens = exact.numel() // (2 * config.layers * config.kv_heads * config.head_dim)
        shape = (config.layers, 2, config.kv_heads, tokens, config.head_dim)
        packer = eight_bit(codec, shape=shape, dtype=dtype, block_size=block_size)
        assert packer is not None
        back = bytearray(len(payload))
        packer.unpack(packer.pack(payload), memoryview(back))
        off = torch.frombuffer(back, dtype=dtype).float() - exact.float()
        each = off.view(shape).flatten(2).norm(dim=2) / exact.float().view(shape).flatten(2).norm(
            dim=2
        )
        worst = torch.maximum(worst, each.amax(0))
    return tuple(worst.tolist())


async def served(
    loaded: LoadedModel, prompts: Sequence[Sequence[int]], tokens: int, settings: Settings
) -> tuple[list[Answer], int]:
    """By an engine of its own."""
    engine = build_engine(loaded, settings)
    try:
        return await answers(engine, prompts, tokens)
    finally:
        await engine.aclose(60)


async def measure(count: int, length: int, tokens: int) -> None:
    """Measure and print."""
    loaded = load_model(DEFAULT_MODEL, dtype=torch.bfloat16, device=torch.device("cpu"))
    prompts = prompts_of(loaded, count, length)
    print(f"{len(prompts)} prompts of {length} tokens, {tokens} tokens of greedy answer")
    plain = Settings(kv_memory_bytes=1 << 30, warm_restart=False)
    cold, _ = await served(loaded, prompts, tokens, plain)
    for codec in CODECS:
        with tempfile.TemporaryDirectory(prefix="headstart-lossy-") as directory:
            settings = Settings(
                kv_memory_bytes=1 << 30, warm_restart=False, disk=directory, tier_codec=codec
            )
            await served(loaded, prompts, 1, settings)
            warm, reused = await served(loaded, prompts, tokens, settings)
            if codec == "raw":
                for name in CODECS[1:]:
                    keys, values = errors(loaded, Path(directory), name, plain.block_size)
                    print(f"{name:>5}: keys off by {keys:.2%} at most, values by {values:.2%}")
            same = sum(one == other for one, other in zip(cold, warm, strict=True))
            first = sum(one[0] == other[0] for one, other in zip(cold, warm, strict=True))
            agree = sum(
                next(
                    (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
                    len(one),
                )
                for one, other in zip(cold, warm, strict=True)
            )
            print(
                f"{codec:>5}: {reused} tokens loaded, {same} of {len(cold)} answers equal, first "
                f"token equal in {first}, {agree / sum(map(len, cold)):.1%} of tokens before the "
                "first difference"
            )


def main() -> None:
    """Read the arguments."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--prompts", type=int, default=50)
    arguments.add_argument("--length", type=int, default=520)
    arguments.add_argument("--answer", type=int, default=32)
    options = arguments.parse_args()
    asyncio.run(measure(options.prompts, options.length, options.answer))


if __name__ == "__main__":
    main()
