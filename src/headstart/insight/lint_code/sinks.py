"""Which calls send a prompt, and which of their arguments stand where in it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from headstart.insight.lint_code.language import words
from headstart.insight.lint_code.prompt import (
    Early,
    in_messages,
    in_system,
    in_text,
    marks,
    role,
)
from headstart.insight.lint_code.values import Array, Record, Value

Part: TypeAlias = Literal["system", "messages", "text", "config"]

_CHAT: Mapping[str, Part] = {
    "system": "system",
    "instructions": "system",
    "tools": "system",
    "functions": "system",
    "messages": "messages",
    "input": "messages",
    "prompt": "text",
    "config": "config",
    "contents": "messages",
    "system_instruction": "system",
    "systemInstruction": "system",
    "system_prompt": "system",
    "systemPrompt": "system",
    "system_message": "system",
    "systemMessage": "system",
}
_AGENT: Mapping[str, Part] = {**_CHAT, "prompt": "system", "state_modifier": "system"}

CALLS: Mapping[tuple[str, ...], Mapping[str, Part]] = {
    **{
        ("messages", last): _CHAT
        for last in ("create", "stream", "parse", "toolRunner", "tool_runner")
    },
    **{("completions", last): _CHAT for last in ("create", "stream", "parse", "runTools")},
    **{("responses", last): _CHAT for last in ("create", "stream", "parse")},
    **{
        ("models", last): _CHAT
        for last in (
            "generate_content",
            "generate_content_stream",
            "generateContent",
            "generateContentStream",
        )
    },
    ("caches", "create"): {**_CHAT, "contents": "system"},
    ("chats", "create"): _CHAT,
    ("assistants", "create"): _CHAT,
    ("litellm", "completion"): _CHAT,
    ("litellm", "acompletion"): _CHAT,
    ("ollama", "chat"): _CHAT,
    **{
        ("ai", last): _CHAT
        for last in ("generateText", "streamText", "generateObject", "streamObject")
    },
    ("GenerativeModel",): _CHAT,
    ("getGenerativeModel",): _CHAT,
    ("create_agent",): _AGENT,
    ("createAgent",): _AGENT,
    ("create_react_agent",): _AGENT,
    ("createReactAgent",): _AGENT,
    ("Agent",): _AGENT,
    ("LlmAgent",): {**_AGENT, "instruction": "system"},
}
"""By the last names of the callee."""

_NAMED_ANYWHERE = words(
    "system_instruction systemInstruction system_prompt systemPrompt system_message systemMessage"
)
SYSTEM_NAMES = frozenset(name for name, part in _AGENT.items() if part == "system")
SPOKEN = frozenset({*_CHAT, "role", "content", "text", "body"})
"""Keys of dicts that may become a prompt or a part of one."""
PROMPT_DECORATORS = words("system_prompt instructions")
"""Of functions whose result is the system prompt, as in pydantic-ai."""
_BETWEEN = words("beta with_raw_response with_streaming_response withResponse")
_INVOKES = words("invoke ainvoke stream astream batch abatch predict_messages generate agenerate")
_POSTS = words("post request fetch")
_BODIES = words("json data content body")


@dataclass(frozen=True, slots=True)
class Sent:
    """A call of something foreign, as the sinks see it."""

    name: str
    """Qualified, with `()` for calls in between."""
    args: Sequence[Value]
    named: Mapping[str, Value]
    objects: bool
    """Named arguments come as an object, as in JavaScript."""

    @property
    def names(self) -> tuple[str, ...]:
        """The path, outermost first, without what only changes how the answer comes."""
        return _path(self.name)


@lru_cache(4096)
def _path(name: str) -> tuple[str, ...]:
    names = (part.removesuffix("()") for part in name.split("."))
    return tuple(part for part in names if part not in _BETWEEN)


def answers(sent: Sent) -> bool:
    """Whether a model's answer comes back."""
    callee = sent.names
    return any(end in CALLS for end in _ends(callee)) or callee[-1] in _INVOKES


def early(sent: Sent) -> Iterator[Early]:
    """What differs before what stays in the prompt that this call sends."""
    callee = sent.names
    last = callee[-1] if callee else ""
    parts = next((CALLS[end] for end in _ends(callee) if end in CALLS), None)
    if parts is not None:
        yield from _prompt(_fields(sent), parts)
    elif last in _INVOKES and sent.args:
        yield from in_messages("messages", sent.args[0], alone=True)
    elif last in _POSTS:
        for body in _bodies(sent):
            yield from _prompt(dict(body.fields), _CHAT)
    else:
        named = _fields(sent) if sent.objects else sent.named
        if not named:
            return
        yield from _prompt({k: v for k, v in named.items() if k in _NAMED_ANYWHERE}, _CHAT)
        if "messages" in named and _is_conversation(named["messages"]):
            yield from in_messages("messages", named["messages"], alone=True)


def _prompt(fields: Mapping[str, Value], parts: Mapping[str, Part]) -> Iterator[Early]:
    given = {name: (part, fields[name]) for name, part in parts.items() if name in fields}
    if not given:
        return
    for _, config in [each for each in given.values() if each[0] == "config"]:
        if isinstance(config.shape, Record):
            inside = dict(config.shape.fields)
            more = {name: (part, inside[name]) for name, part in parts.items() if name in inside}
            given = {**given, **more}
    later = "cache_control" in fields or any(
        part == "messages" and marks(value) for part, value in given.values()
    )
    alone = not any(part == "system" for part, _ in given.values())
    for name, (part, value) in given.items():
        if part == "system":
            yield from in_system(f"`{name}`", value, later_marks=later or name == "tools")
        elif part == "messages":
            for each in in_messages(name, value, alone=alone):
                yield Early(f"`{each.part}`", each.taints)
        elif part == "text" and alone:
            yield Early(f"`{name}`", in_text(value))


def _fields(sent: Sent) -> dict[str, Value]:
    """Keyword arguments, or the fields of the object that JavaScript passes for them."""
    fields = dict(sent.named)
    for arg in sent.args:
        if isinstance(arg.shape, Record):
            fields = {**dict(arg.shape.fields), **fields}
    return fields


def _bodies(sent: Sent) -> Iterator[Record]:
    """Of a POST: the fields of a prompt stand at the top of it."""
    candidates = [*sent.args, *(sent.named[name] for name in _BODIES if name in sent.named)]
    for value in candidates:
        if isinstance(value.shape, Record):
            body = value.shape.get("body")
            inside = body.shape if body is not None and isinstance(body.shape, Record) else None
            shape = inside or value.shape
            if {"messages", "contents", "system", "input"} & {name for name, _ in shape.fields}:
                yield shape


def _is_conversation(value: Value) -> bool:
    return isinstance(value.shape, Array) and any(
        role(item.value) is not None for item in value.shape.items
    )


def _ends(callee: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield callee[-2:]
    yield callee[-1:]
