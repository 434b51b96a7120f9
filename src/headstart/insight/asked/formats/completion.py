"""OpenAI's older text completions: one prompt, as text or as token ids."""

from collections.abc import Iterator, Mapping
from typing import Any

from headstart.insight.asked.formats.contents import Contents
from headstart.insight.asked.formats.values import text, wrong
from headstart.insight.asked.piece import Address, Piece, plain_json


def read(body: Mapping[str, Any]) -> Contents:
    """Raises Unreadable."""
    prompt = body.get("prompt")
    address: Address = ("prompt",)
    partition = text(body.get("prompt_cache_key"))
    if isinstance(prompt, list) and len(prompt) == 1 and not isinstance(prompt[0], int):
        (prompt,), address = prompt, ("prompt", 0)
    if isinstance(prompt, str):
        return Contents([Piece("user", address, prompt, 0, "user")], partition=partition)
    if isinstance(prompt, list) and all(map(_is_id, prompt)):
        piece = Piece("user", address, plain_json(prompt), 0, "user", json=True)
        return Contents([piece], partition=partition, tokens=prompt)
    raise wrong(address, "a text or token ids", prompt)


def _is_id(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 32


def alone(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A body for each prompt: they share a request and nothing else."""
    prompts = body.get("prompt")
    if isinstance(prompts, list) and len(prompts) > 1 and not isinstance(prompts[0], int):
        for prompt in prompts:
            yield {**body, "prompt": prompt}
    else:
        yield body
