"""Did the cache change my output? What else can have, for two requests whose answers are there.

Reading KV changes no meaning: after a hit an engine computes from the same numbers, up to the
order in which floating-point sums are taken. So all else is looked at first.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.formats.values import fields

Answer = Literal["no", "unlikely", "possible"]
"""`no`: what the two ask differs. `unlikely`: sampling alone makes answers differ. `possible`: the
order of sums, which a hit can change and so can any other batch."""

SAMPLING = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "stop",
    "stop_sequences",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "logit_bias",
    "n",
)
"""Wherever a format has them: in the body, or in Gemini's `generationConfig`."""
KEYS = ("cache_salt", "prompt_cache_key", "user")


@dataclass(frozen=True, slots=True)
class Triage:
    """The answer, and what was looked at in its order."""

    answer: Answer
    because: str
    looked_at: tuple[str, ...]


def triage(before: Asked, after: Asked) -> Triage:
    """Of two requests, by what they ask; with their recorded answers, by those too."""
    looked = tuple(_looked_at(before, after))
    if [piece.digest for piece in before.pieces] != [piece.digest for piece in after.pieces]:
        return Triage("no", "the prompts differ, so their answers may", looked)
    if before.model != after.model:
        return Triage("no", f"another model: {before.model}, {after.model}", looked)
    if before.settings != after.settings:
        return Triage("no", "settings that shape the prompt differ", looked)
    for name in SAMPLING:
        one, other = _setting(before, name), _setting(after, name)
        if one != other:
            return Triage("no", f"{name} differs{_numbers(one, other)}", looked)
    if _setting(before, "temperature") != 0:
        seed = _setting(before, "seed")
        said = "a seed is set, which vendors take as best effort" if seed is not None else "no seed"
        return Triage(
            "unlikely", f"tokens are drawn at random (temperature is not 0), {said}", looked
        )
    return Triage(
        "possible",
        "the same prompt, greedy: what is left is the order of floating-point sums, which differs "
        "between a cold run, a hit and another batch. Ask again with the cache off, several times: "
        "if those differ among themselves, it is not the cache (headstart serve --deterministic "
        "takes the order out of it)",
        looked,
    )


def _looked_at(before: Asked, after: Asked) -> Iterator[str]:
    for name in KEYS:
        one, other = before.body.get(name), after.body.get(name)
        if one != other:
            yield f"{name} differs: the two can't read each other's cache"
    if any(piece.media for piece in after.pieces):
        yield "there are images: a cache must have their digest in its key (ours has)"
    prints = [fields(asked.response).get("system_fingerprint") for asked in (before, after)]
    if any(prints) and prints[0] != prints[1]:
        yield f"system_fingerprint differs: {prints[0]}, {prints[1]}: another build answered"
    for name, asked in (("the first", before), ("the second", after)):
        if asked.account is not None:
            yield f"{name} read {asked.account.read:,} of {asked.account.prompt:,} prompt tokens"
    texts = [said(asked.response) for asked in (before, after)]
    if None not in texts:
        yield "the answers are the same" if texts[0] == texts[1] else "the answers differ"


def _numbers(one: Any, other: Any) -> str:
    """Both, if nothing of what is said can be in them."""
    numbers = all(isinstance(value, int | float | None) for value in (one, other))
    return f": {json.dumps(one)}, {json.dumps(other)}" if numbers else ""


def _setting(asked: Asked, name: str) -> Any:
    if asked.format != "gemini":
        return asked.body.get(name)
    config = fields(asked.body.get("generationConfig") or asked.body.get("generation_config"))
    head, *rest = name.split("_")
    return config.get(head + "".join(map(str.capitalize, rest)), config.get(name))


def said(response: Any) -> str | None:
    """The text of a whole answer; None where there is none that is known here."""
    answer: Mapping[str, Any] = fields(response)
    answer = fields(answer.get("body")) or answer
    found = [text for text in _texts(answer) if text]
    return "".join(found) if found else None


def _texts(value: Any) -> Iterator[str]:
    """What stands under the names that all formats give to generated text."""
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for name in ("choices", "message", "output", "candidates", "content", "parts"):
            held = value.get(name)
            if isinstance(held, str):
                yield held
            else:
                yield from _texts(held)
        if isinstance(value.get("text"), str):
            yield value["text"]
