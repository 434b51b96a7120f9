"""Recordings with usage that a vendor would have reported, worked out by hand."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

START = 1_790_000_000.0
SONNET = "claude-sonnet-4-5"


def write(path: Path, lines: Iterable[Any]) -> str:
    """As JSONL; the path for the command line."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def messages_usage(fresh: int, read: int, written: int = 0, output: int = 10) -> dict[str, int]:
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
    }


def chat_usage(prompt: int, cached: int, output: int = 10) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def bare(usage: Mapping[str, Any], model: str = SONNET, **beside: Any) -> dict[str, Any]:
    """A record without a body."""
    return {"model": model, "usage": usage, **beside}


def words(seed: str, count: int) -> str:
    return " ".join(f"{seed}{number}" for number in range(count))


def chat(
    system: str, *turns: str, usage: Any = None, model: str = "gpt-5.4", **beside: Any
) -> dict[str, Any]:
    """A record with a body in OpenAI's chat format; turns alternate from the user's on."""
    messages = [{"role": "system", "content": system}]
    messages += [
        {"role": "assistant" if number % 2 else "user", "content": turn}
        for number, turn in enumerate(turns)
    ]
    record: dict[str, Any] = {"body": {"model": model, "messages": messages}, **beside}
    return record if usage is None else {**record, "usage": usage}


def claude(
    system: str, question: str, usage: Any, *, marked: bool = True, **beside: Any
) -> dict[str, Any]:
    """A record with a body in Anthropic's format."""
    block: dict[str, Any] = {"type": "text", "text": system}
    if marked:
        block["cache_control"] = {"type": "ephemeral"}
    body = {
        "model": SONNET,
        "max_tokens": 10,
        "system": [block],
        "messages": [{"role": "user", "content": question}],
    }
    return {"body": body, "usage": usage, **beside}
