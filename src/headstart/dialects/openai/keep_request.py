"""`POST /cache/warm` and `POST /cache/pin`: prompts to compute ahead, prefixes to keep."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from headstart.dialects.body import convert, decode_object
from headstart.dialects.errors import invalid
from headstart.dialects.openai.prompt_request import PromptFields, PromptRequest, to_prompt

MOST_PROMPTS = 256
LONGEST_TTL = 7 * 24 * 3600.0
DEFAULT_TTL = 300.0

Ttl = Annotated[float, Meta(gt=0, le=LONGEST_TTL)]
Priority = Annotated[int, Meta(ge=0, le=100)]
Prompts = Annotated[list[PromptFields], Meta(min_length=1, max_length=MOST_PROMPTS)]


class PinFields(PromptFields, kw_only=True):
    """A prompt, and how long to keep it: seconds without use."""

    ttl: Ttl | None = None
    priority: Priority = 0


class WarmFields(PinFields, kw_only=True):
    """One prompt as its own fields, or many in `prompts`; kept only if `ttl` says so.

    Beside `prompts`, the fields that are no prompt hold for each that has none of its own.
    """

    prompts: Prompts | None = None


@dataclass(frozen=True, slots=True)
class KeepRequest:
    """Prompts and how long to keep them; `ttl` None is no pin."""

    prompts: tuple[PromptRequest, ...]
    ttl: float | None
    priority: int
    alone: bool = True
    """Whether the body is the prompt, not a list of some."""


def parse_pin(body: bytes) -> KeepRequest:
    """Read a pin. Raises ApiError 400."""
    fields = convert(decode_object(body), PinFields)
    prompt = to_prompt(fields, allow_tokens=True)
    return KeepRequest((prompt,), fields.ttl or DEFAULT_TTL, fields.priority)


def parse_warm(body: bytes) -> KeepRequest:
    """Read what to compute ahead. Raises ApiError 400."""
    fields = convert(decode_object(body), WarmFields)
    if fields.prompts is None:
        return KeepRequest((to_prompt(fields, allow_tokens=True),), fields.ttl, fields.priority)
    if any(form is not None for form in (fields.messages, fields.prompt, fields.tokens)):
        raise invalid("Put every prompt into 'prompts', or send a single one without it.")
    prompts = tuple(
        to_prompt(_with_shared(each, fields), allow_tokens=True, where=f"prompts[{index}]")
        for index, each in enumerate(fields.prompts)
    )
    return KeepRequest(prompts, fields.ttl, fields.priority, alone=False)


def _with_shared(prompt: PromptFields, shared: PromptFields) -> PromptFields:
    own = prompt.add_special_tokens
    return replace(
        prompt,
        model=shared.model if prompt.model is None else prompt.model,
        tools=shared.tools if prompt.tools is None else prompt.tools,
        cache_salt=shared.cache_salt if prompt.cache_salt is None else prompt.cache_salt,
        add_special_tokens=shared.add_special_tokens if own is None else own,
    )
