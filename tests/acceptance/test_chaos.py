"""64 clients at once over HTTP on a pool too small for them, some of whom hang up."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch

from headstart.engine.build import build_engine
from headstart.model.load import load_model
from headstart.server.app import create_app
from headstart.server.listen import listen
from headstart.server.run import uvicorn_config
from headstart.server.shutdown import Server
from headstart.settings import Settings

pytestmark = pytest.mark.slow

CLIENTS, REQUESTS, BLOCKS = 64, 2, 72
BLOCK_BYTES = 16 * 2 * 2 * 2 * 16 * 4
"""16 tokens, keys and values, 2 layers, 2 heads of 16, fp32."""

Body = dict[str, Any]


def bodies(rng: random.Random) -> list[Body]:
    """Prompts of token ids; half of them begin alike."""
    stems = [[rng.randrange(3, 380) for _ in range(200)] for _ in range(3)]
    made = []
    for _ in range(CLIENTS * REQUESTS):
        stem = rng.choice(stems)[: rng.randrange(200)] if rng.random() < 0.5 else []
        tail = [rng.randrange(3, 380) for _ in range(rng.randint(1, 60))]
        made.append(
            {
                "model": "tiny",
                "prompt": stem + tail,
                "max_tokens": rng.randint(1, 64),
                "temperature": 0,
                "ignore_eos": True,
                "logprobs": 1,
            }
        )
    return made


async def whole(client: httpx.AsyncClient, body: Body) -> tuple[list[str], int]:
    """Tokens of the answer and cached prompt tokens."""
    response = await client.post("/v1/completions", json=body)
    assert response.status_code == 200, response.text
    data = response.json()
    usage = data["usage"]
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    assert 0 <= cached < usage["prompt_tokens"] == len(body["prompt"])
    return data["choices"][0]["logprobs"]["tokens"], cached


async def hangs_up(client: httpx.AsyncClient, body: Body, after: int) -> None:
    """Read `after` pieces of the stream, then close the connection."""
    async with client.stream("POST", "/v1/completions", json={**body, "stream": True}) as response:
        pieces = response.aiter_raw()
        for _ in range(after):
            await anext(pieces, None)


async def wave(client: httpx.AsyncClient, work: list[Body], seed: int) -> list[list[str] | None]:
    """All of `work`, CLIENTS at a time; None for those that hung up."""
    rng = random.Random(seed)
    answers: list[list[str] | None] = [None] * len(work)

    async def one_client(mine: range, rng: random.Random) -> None:
        for number in mine:
            if rng.random() < 0.25:
                await hangs_up(client, work[number], after=rng.randrange(4))
            else:
                answers[number], _ = await whole(client, work[number])
            if rng.random() < 0.03:
                assert (await client.post("/cache/reset")).status_code == 200

    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        for number in range(CLIENTS):
            mine = range(number * REQUESTS, (number + 1) * REQUESTS)
            group.create_task(one_client(mine, random.Random(rng.random())))
    return answers


def resident_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def test_64_clients_on_a_small_pool_get_right_answers_and_leave_nothing(
    tiny_checkpoint: Callable[..., Path],
) -> None:
    torch.set_num_threads(1)
    loaded = load_model(
        str(tiny_checkpoint("llama")), dtype=torch.float32, device=torch.device("cpu")
    )
    work = bodies(random.Random(7))

    async def main() -> None:
        settings = Settings(
            served_model_name="tiny",
            kv_memory_bytes=BLOCKS * BLOCK_BYTES,
            max_batch_tokens=128,
            drain_seconds=0,
        )
        engine = build_engine(loaded, settings)
        sock = listen("127.0.0.1", 0)
        server = Server(uvicorn_config(settings, create_app(engine, loaded.codec, settings)))
        serving = asyncio.create_task(server.serve(sockets=[sock]))
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        limits = httpx.Limits(max_connections=CLIENTS)
        async with httpx.AsyncClient(
            base_url=url, timeout=60, trust_env=False, limits=limits
        ) as client:
            alone = [(await whole(client, body))[0] for body in work]
            memory = []
            for seed in range(3):
                answers = await wave(client, work, seed)
                wrong = [
                    number
                    for number, answer in enumerate(answers)
                    if answer is not None and answer != alone[number]
                ]
                assert not wrong
                assert sum(answer is not None for answer in answers) > len(work) // 2
                async with asyncio.timeout(10):
                    while engine.stats().running or engine.stats().waiting:
                        await asyncio.sleep(0.01)
                engine.audit()
                assert engine.stats().cache.used_tokens == 0
                memory.append(resident_kib())
        stats = engine.stats()
        assert stats.cache.capacity_tokens == BLOCKS * 16
        assert stats.preemptions > 0
        assert stats.cache.evicted_blocks > BLOCKS
        assert stats.cache.hit_tokens > 0
        assert stats.requests_finished["abort"] > 0
        assert memory[2] - memory[1] < 8 * 1024, memory
        server.should_exit = True
        await serving
        await engine.aclose(0)

    asyncio.run(main())
