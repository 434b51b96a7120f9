"""Requests that only need a prompt: `/tokenize`, `/detokenize` and those of `/cache`.

OpenAI has none of these; the first two take the bodies that vLLM's clients send.
"""

from dataclasses import dataclass

import msgspec

from headstart.dialects.body import convert, decode_object
from headstart.dialects.errors import invalid
from headstart.dialects.openai.messages import Messages, to_message
from headstart.dialects.openai.sampling import TokenId
from headstart.dialects.openai.tools import AnyTool, to_tools
from headstart.text.chat import Conversation


class PromptFields(msgspec.Struct, kw_only=True):
    """The body's fields."""

    model: str | None = None
    messages: Messages | None = None
    tools: list[AnyTool] | None = None
    prompt: str | None = None
    tokens: list[TokenId] | None = None
    add_special_tokens: bool | None = None
    cache_salt: str | None = None


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """A prompt in one of its three forms."""

    model: str | None
    """None is the base model."""
    prompt: Conversation | str | tuple[int, ...]
    special_tokens: bool
    """Of text: whether the tokens that the model's prompts begin with are added."""
    cache_salt: str | None


def parse_prompt(body: bytes, *, allow_tokens: bool) -> PromptRequest:
    """Read `messages` (with `tools`), `prompt` or `tokens`. Raises ApiError 400."""
    return to_prompt(convert(decode_object(body), PromptFields), allow_tokens=allow_tokens)


def to_prompt(fields: PromptFields, *, allow_tokens: bool, where: str = "") -> PromptRequest:
    """The one prompt among `fields`; `where` is their place in the body. Raises ApiError 400."""
    tokens = fields.tokens if allow_tokens else None
    forms = [form for form in (fields.messages, fields.prompt, tokens) if form is not None]
    if len(forms) != 1:
        names = "'messages', 'prompt' or 'tokens'" if allow_tokens else "'messages' or 'prompt'"
        raise invalid(f"Exactly one of {names} is needed.", where or None)
    prompt: Conversation | str | tuple[int, ...]
    if fields.messages is not None:
        path = f"{where}.messages" if where else "messages"
        messages = tuple(to_message(m, f"{path}[{i}]") for i, m in enumerate(fields.messages))
        prompt = Conversation(messages, to_tools(fields.tools or ()))
    elif fields.prompt is not None:
        prompt = fields.prompt
    else:
        prompt = tuple(tokens or ())
    return PromptRequest(
        fields.model, prompt, fields.add_special_tokens is not False, fields.cache_salt
    )


class TokensFields(msgspec.Struct, kw_only=True):
    """The body of `/detokenize`."""

    tokens: list[TokenId]
    model: str | None = None


def parse_tokens(body: bytes) -> TokensFields:
    """Read the body of `/detokenize`. Raises ApiError 400."""
    return convert(decode_object(body), TokensFields)
