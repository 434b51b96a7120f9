"""What the next turn of a conversation costs before the model runs (design law 11).

python benchmarks/turn.py [--turn 300] [--histories 5000 100000] [--repeats 25]

Conversations in the default model's tokens grow by one turn at a time: *render* (the template),
*encode* (the new ids; they are checked against a full encoding at the end), *acquire* (chain,
look-up, lease, allocation) and *release*. Then the same through the real server and engine in
another process, over a socket, whose model costs nothing: every logit is known beforehand. Each
turn asks for one token.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from multiprocessing.connection import Connection

import httpx
import torch

from headstart.cache import Namespace, PrefixCache
from headstart.engine.core import LocalEngine
from headstart.engine.identity import Identity
from headstart.engine.scheduler import Scheduler
from headstart.model.config import ModelConfig, RopeConfig
from headstart.model.decoder import Decoder
from headstart.model.default import fetch_default_model
from headstart.model.gguf_file import read_gguf
from headstart.model.kv import KVPool
from headstart.model.runner import Runner, Slice
from headstart.model.weights import Weights
from headstart.server.app import create_app
from headstart.server.listen import listen
from headstart.server.run import uvicorn_config
from headstart.server.shutdown import Server
from headstart.settings import Settings
from headstart.text.chat import Conversation, Message
from headstart.text.codec import Codec

WORDS = (
    "the cache keeps what was computed before so nobody computes it again while tokens blocks and "
    "prefixes wait in memory for a question that begins as another did don't 2024 café naïve def "
    "return self.value == None { } ( ) [ ] , . ; : — server request answer"
)
ANSWER = "the"
BLOCK = 16
WARM = 3
"""Turns that are not counted."""
MODEL = "none"

Seconds = dict[str, list[float]]


def default_codec() -> Codec:
    """The default model's tokenizer and template."""
    return Codec.from_gguf(read_gguf(fetch_default_model()).metadata)


class Growing:
    """A conversation whose turns are of about so many tokens, and never the same."""

    def __init__(self, codec: Codec, turn: int, history: int) -> None:
        self._random = random.Random(history)
        self._vocabulary = WORDS.split()
        sample = codec.encode(self._words(1000))
        self._per_turn = round(1000 * (turn - 12) / len(sample))  # The template's own are 12.
        self.messages: list[Message] = []
        for _ in range(history // turn):
            self.ask()
            self.answer(ANSWER)

    def ask(self) -> None:
        """The user's next question."""
        self.messages.append(Message("user", self._words(self._per_turn)))

    def answer(self, text: str) -> None:
        """What the model said to it."""
        self.messages.append(Message("assistant", text))

    def _words(self, count: int) -> str:
        return " ".join(self._random.choices(self._vocabulary, k=count))


class Bare:
    """Text and cache without engine and server."""

    def __init__(self, codec: Codec, growing: Growing, history: int) -> None:
        self._codec, self._growing, self._scope = codec, growing, f"history of {history}"
        self._cache = PrefixCache(2 * history // BLOCK + 10_000, BLOCK)
        self._text = ""
        self._ids: Sequence[int] = ()
        self._namespace = Namespace(
            weights=bytes(32),
            adapter=None,
            tenant="",
            salt=None,
            dtype="",
            layout="",
            rope="",
            block_size=BLOCK,
        )

    def turn(self) -> dict[str, float]:
        """Seconds of the next turn, by part."""
        codec, cache = self._codec, self._cache
        self._growing.ask()
        conversation = Conversation(tuple(self._growing.messages))
        begin = time.perf_counter()
        text = codec.render(conversation)
        rendered = time.perf_counter()
        ids = codec.encode(text, self._scope)
        encoded = time.perf_counter()
        lease = cache.acquire(cache.chain(self._namespace), ids)
        acquired = time.perf_counter()
        if lease is None:
            raise SystemExit("the pool is too small")
        cache.take_copies()
        cache.publish(lease, ids)
        published = time.perf_counter()
        cache.release(lease)
        released = time.perf_counter()
        self._growing.answer(ANSWER)
        self._text, self._ids = text, ids
        return {
            "render": rendered - begin,
            "encode": encoded - rendered,
            "acquire": acquired - encoded,
            "release": released - published,
            "encode to acquire": acquired - rendered,
            "render to acquire": acquired - begin,
        }

    def in_full(self) -> float:
        """Seconds of encoding the last prompt as a whole, which must give the same ids."""
        begin = time.perf_counter()
        ids = self._codec.encode(self._text)
        seconds = time.perf_counter() - begin
        if list(ids) != list(self._ids):
            raise SystemExit("the incremental ids differ from the full ones")
        return seconds


class NoModel(Runner):
    """Answers with the same token at no cost."""

    def __init__(self, vocabulary: int, blocks: int, token: int) -> None:
        config = ModelConfig(
            family="llama",
            vocab_size=vocabulary,
            hidden_size=2,
            layers=1,
            query_heads=1,
            kv_heads=1,
            head_dim=2,
            ffn_size=2,
            context_length=blocks * BLOCK,
            norm_eps=1e-5,
            rope=RopeConfig(10_000.0),
            tied_head=True,
            qkv_bias=False,
            qk_norm=False,
            eos_ids=(),
            bos_id=None,
        )
        nothing = torch.zeros(1, 2)
        pool = KVPool(
            config,
            blocks=blocks,
            block_size=BLOCK,
            dtype=torch.float32,
            device=torch.device("cpu"),
        )
        weights = Weights(nothing, (), nothing[0], nothing)
        super().__init__(Decoder(config, weights, positions=1), pool)
        self._logits = torch.zeros(1, vocabulary)
        self._logits[0, token] = 1.0

    def run(self, slices: Sequence[Slice]) -> torch.Tensor:
        """The same row for every sequence that wants one."""
        return self._logits.expand(sum(part.wants_logits for part in slices), -1)


def serve(blocks: int, ready: Connection) -> None:
    """Run the server in this process; its address goes to `ready`."""
    codec = default_codec()
    settings = Settings(served_model_name=MODEL, drain_seconds=0)
    answer = codec.encode(ANSWER)[0]
    runner = NoModel(codec.vocab_size, blocks, answer)

    async def run() -> None:
        engine = LocalEngine(
            runner,
            Scheduler(
                PrefixCache(blocks, BLOCK),
                max_batch_tokens=settings.max_batch_tokens,
                max_running=settings.max_running,
            ),
            codec,
            Identity(bytes(32), "", "", "", BLOCK),
            context_length=blocks * BLOCK,
            max_waiting=settings.max_waiting,
        )
        with listen("127.0.0.1", 0) as sock:
            ready.send(f"http://127.0.0.1:{sock.getsockname()[1]}/v1/chat/completions")
            server = Server(uvicorn_config(settings, create_app(engine, codec, settings)))
            await server.serve(sockets=[sock])

    asyncio.run(run())


def post_turn(client: httpx.Client, url: str, growing: Growing) -> tuple[float, int]:
    """Seconds from sending to the whole answer, and the prompt tokens that were not cached."""
    growing.ask()
    body = {
        "model": MODEL,
        "max_tokens": 1,
        "temperature": 0,
        "messages": [{"role": m.role, "content": m.content} for m in growing.messages],
    }
    content = json.dumps(body).encode()
    begin = time.perf_counter()
    response = client.post(url, content=content)
    seconds = time.perf_counter() - begin
    answer = response.raise_for_status().json()
    growing.answer(answer["choices"][0]["message"]["content"])
    usage = answer["usage"]
    return seconds, usage["prompt_tokens"] - usage["prompt_tokens_details"]["cached_tokens"]


def through_server(codec: Codec, chosen: argparse.Namespace) -> dict[int, Seconds]:
    """Whole turns through the server, by history."""
    here, there = multiprocessing.Pipe()
    blocks = sum(2 * history for history in chosen.histories) // BLOCK + 10_000
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(blocks, there), daemon=True
    )
    process.start()
    there.close()  # So that a server that fails to start is the end, not an endless wait.
    url = here.recv()
    samples: dict[int, Seconds] = {history: defaultdict(list) for history in chosen.histories}
    sessions = {history: Growing(codec, chosen.turn, history) for history in chosen.histories}
    with httpx.Client(timeout=600, trust_env=False) as client:
        for at in range(WARM + chosen.repeats):
            for history, growing in sessions.items():
                seconds, fresh = post_turn(client, url, growing)
                if at < WARM:
                    continue
                samples[history]["through the server"].append(seconds)
                if fresh > 2 * chosen.turn:
                    raise SystemExit(f"{fresh} tokens of a turn were not cached")
    process.terminate()
    process.join()
    return samples


def bare(codec: Codec, chosen: argparse.Namespace) -> dict[int, Seconds]:
    """Turns through text and cache alone, by history."""
    sessions = {
        history: Bare(codec, Growing(codec, chosen.turn, history), history)
        for history in chosen.histories
    }
    samples: dict[int, Seconds] = {history: defaultdict(list) for history in chosen.histories}
    for at in range(WARM + chosen.repeats):
        for history, session in sessions.items():
            for part, seconds in session.turn().items():
                if at >= WARM:
                    samples[history][part].append(seconds)
    for history, session in sessions.items():
        samples[history]["encode in full"] = [session.in_full() for _ in range(3)]
    return samples


def show(samples: dict[int, Seconds]) -> None:
    """A line for each part: median and minimum by history, and the longest against the shortest."""
    first, last = min(samples), max(samples)
    for part in samples[first]:
        both = ((statistics.median(each[part]), min(each[part])) for each in samples.values())
        figures = "; ".join(f"{m * 1e6:,.0f} (minimum {least * 1e6:,.0f})" for m, least in both)
        middle = statistics.median(samples[last][part]) / statistics.median(samples[first][part])
        least = min(samples[last][part]) / min(samples[first][part])
        print(f"{part:>20}: {figures} µs; {middle:.2f} x (minima {least:.2f} x)")


def main() -> None:
    """Read the arguments, measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--turn", type=int, default=300)
    arguments.add_argument("--histories", type=int, nargs="+", default=[5_000, 100_000])
    arguments.add_argument("--repeats", type=int, default=25)
    chosen = arguments.parse_args()
    codec = default_codec()
    histories = " and ".join(f"{history:,}" for history in chosen.histories)
    print(f"a turn of {chosen.turn} tokens behind {histories}; load {os.getloadavg()[0]:.1f}")
    show(bare(codec, chosen))
    show(through_server(codec, chosen))


if __name__ == "__main__":
    main()
