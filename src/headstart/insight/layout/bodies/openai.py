"""OpenAI's chat completions, and whoever speaks them: tools, then messages of parts.

Markers, options and the routing key go to OpenAI alone; others read by tokens and need none.
"""

import json
from hashlib import sha256

from headstart.insight.asked.detect import vendor_of
from headstart.insight.layout.bodies.anthropic import check
from headstart.insight.layout.edges import Edges, edges, profile_of
from headstart.insight.layout.material import Material
from headstart.insight.layout.segment import Segment
from headstart.insight.layout.stages import Body
from headstart.ledger.rules import Profile


def body(material: Material, model: str, lifetime: str | None) -> Body:
    """Raises ValueError for a lifetime that the vendor doesn't sell."""
    vendor = vendor_of("chat", model)
    profile = profile_of(vendor, model)
    marked = marks(material, profile, lifetime)
    messages: list[Body] = []
    if material.stable:
        parts = [
            part("text", text, marked=index in marked.texts, lifetime=of(segment, lifetime))
            for index, (segment, text) in enumerate(material.stable)
        ]
        messages.append({"role": "system", "content": parts})
    messages += conversation(material, marked, {"user": "text", "assistant": "text"})
    said: Body = {"model": model}
    if material.tools:
        said["tools"] = [{"type": "function", "function": dict(tool)} for tool in material.tools]
    return {**said, "messages": messages, **wishes(material, marked, vendor)}


def marks(material: Material, profile: Profile, lifetime: str | None) -> Edges:
    """Which parts are marked; OpenAI ignores a marker on a tool or an answer (rule O19)."""
    if profile.contract != "openai_breakpoints":
        return Edges()
    check(lifetime, list(profile.lifetimes))
    found = edges(material, profile, tools=False)
    answered = bool(material.turns) and material.turns[-1].role == "assistant"
    return Edges(found.texts, turns=found.turns and not answered)


def of(segment: Segment, lifetime: str | None) -> str | None:
    """What ends with a session needs no longer one."""
    return lifetime if segment <= Segment.DAILY else None


def part(kind: str, text: str, *, marked: bool = False, lifetime: str | None = None) -> Body:
    """One part of a message."""
    said: Body = {"type": kind, "text": text}
    if marked:
        wanted = {"mode": "explicit"} if lifetime is None else {"mode": "explicit", "ttl": lifetime}
        said["prompt_cache_breakpoint"] = wanted
    return said


def conversation(material: Material, marked: Edges, kinds: dict[str, str]) -> list[Body]:
    """The turns, and what is asked now at their end. `kinds`: of a part, by role."""
    messages: list[Body] = [
        {"role": turn.role, "content": [part(kinds[turn.role], turn.text)]}
        for turn in material.turns
    ]
    if marked.turns:
        last = material.turns[-1]
        messages[-1]["content"] = [part(kinds[last.role], last.text, marked=True)]
    if material.asked:
        parts = [part(kinds["user"], text) for text in material.asked]
        if messages and messages[-1]["role"] == "user":
            messages[-1]["content"] += parts
        else:
            messages.append({"role": "user", "content": parts})
    return messages


def wishes(material: Material, marked: Edges, vendor: str) -> Body:
    """In explicit mode nothing behind the last marker is written, nor billed as written (O6)."""
    if vendor != "openai":
        return {}
    told: Body = {"prompt_cache_key": key(material)}
    if marked:
        told["prompt_cache_options"] = {"mode": "explicit"}
    return told


def key(material: Material) -> str:
    """The same for all that never changes in the same words: OpenAI routes by it."""
    always = [text for segment, text in material.stable if segment is Segment.ALWAYS]
    said = json.dumps([list(map(dict, material.tools)), always], ensure_ascii=False)
    return f"layout-{sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
