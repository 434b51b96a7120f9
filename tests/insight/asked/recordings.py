"""A log as an application leaves it: sessions that grow, one body a line."""

import json
import random
from pathlib import Path
from typing import Any

TEXT = """the cache prefix model request token answer system window tool budget latency server
please check why this order was not shipped yet and tell what has to be changed in the summary"""
WORDS = TEXT.split()
TOOLS = [
    {
        "name": f"tool_{number}",
        "description": "Looks something up in one of the systems of the shop. " * 3,
        "input_schema": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What is looked for."}},
            "required": ["query"],
        },
    }
    for number in range(8)
]


def write_sessions(path: Path, *, requests: int, size: int, turns: int = 10, seed: int = 1) -> int:
    """`requests` bodies of Anthropic's in sessions of `turns`, about `size` bytes; how many."""
    draw = random.Random(seed)
    said = 2 * size // (requests * (turns + 1))
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for _ in range(requests // turns):
            messages: list[dict[str, Any]] = []
            for _ in range(turns):
                messages.append({"role": "user", "content": _text(draw, said // 3)})
                body = {
                    "model": "claude-sonnet-4-5",
                    "max_tokens": 1024,
                    "system": "You are the assistant of a shop. " * 30,
                    "tools": TOOLS,
                    "messages": messages,
                }
                written += file.write(json.dumps(body) + "\n")
                answer = {"type": "text", "text": _text(draw, said - said // 3)}
                messages.append({"role": "assistant", "content": [answer]})
    return written


def _text(draw: random.Random, size: int) -> str:
    words: list[str] = []
    length = 0
    while length < size:
        word = draw.choice(WORDS) if draw.random() < 0.98 else f"{draw.getrandbits(32):x}"
        words.append(word)
        length += len(word) + 1
    return " ".join(words)
