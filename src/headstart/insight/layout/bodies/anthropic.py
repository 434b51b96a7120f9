"""Anthropic's Messages: tools, system, messages; markers on blocks."""

from typing import Any

from headstart.insight.layout.edges import Edges, edges, profile_of
from headstart.insight.layout.material import Material
from headstart.insight.layout.segment import Segment
from headstart.insight.layout.stages import Body


def body(material: Material, model: str, max_tokens: int, lifetime: str | None) -> Body:
    """Raises ValueError for a lifetime that the vendor doesn't sell."""
    profile = profile_of("anthropic", model)
    check(lifetime, list(profile.lifetimes))
    marked = edges(material, profile)
    said: Body = {"model": model, "max_tokens": max_tokens}
    if material.tools:
        said["tools"] = _tools(material, marked, lifetime)
    if material.stable:
        said["system"] = [
            _block(text, marked=index in marked.texts, lifetime=_of(segment, lifetime))
            for index, (segment, text) in enumerate(material.stable)
        ]
    said["messages"] = _messages(material, marked)
    return said


def check(lifetime: str | None, known: list[str]) -> None:
    """Raises ValueError."""
    if lifetime is not None and lifetime not in known:
        raise ValueError(f"no lifetime {lifetime!r}: there are {', '.join(known) or 'none'}")


def _of(segment: Segment, lifetime: str | None) -> str | None:
    """What ends with a session needs no longer one; and the longer must come first (rule A6)."""
    return lifetime if segment <= Segment.DAILY else None


def _tools(material: Material, marked: Edges, lifetime: str | None) -> list[Body]:
    tools: list[Body] = []
    for tool in material.tools:
        told = {name: each for name, each in tool.items() if name != "parameters"}
        schema = tool.get("parameters", {"type": "object", "properties": {}})
        tools.append({**told, "input_schema": schema})
    if marked.tools:
        tools[-1] |= _control(lifetime)
    return tools


def _messages(material: Material, marked: Edges) -> list[Body]:
    messages: list[Body] = [
        {"role": turn.role, "content": [_block(turn.text)]} for turn in material.turns
    ]
    if marked.turns:
        messages[-1]["content"][-1] |= _control(None)
    if material.asked:
        blocks = [_block(text) for text in material.asked]
        if messages and messages[-1]["role"] == "user":
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": "user", "content": blocks})
    return messages


def _block(text: str, *, marked: bool = False, lifetime: str | None = None) -> dict[str, Any]:
    block = {"type": "text", "text": text}
    return {**block, **_control(lifetime)} if marked else block


def _control(lifetime: str | None) -> Body:
    wanted = {"type": "ephemeral"} if lifetime is None else {"type": "ephemeral", "ttl": lifetime}
    return {"cache_control": wanted}
