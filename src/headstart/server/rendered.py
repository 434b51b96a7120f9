"""What the model reads of a whole request, in any dialect, and where its parts end."""

import re
from typing import Any

from headstart.dialects.anthropic.chat import AnthropicMessages
from headstart.dialects.anthropic.version import HEADER, OLD
from headstart.dialects.chat import ChatRequest
from headstart.dialects.deepseek.chat import DeepSeekChat
from headstart.dialects.dialect import Dialect, Envelope
from headstart.dialects.gemini.generate import GeminiGenerate
from headstart.dialects.openai.chat import OpenAIChat
from headstart.dialects.openai.organization import within
from headstart.dialects.openai.responses.request import parse_create
from headstart.dialects.openai.responses.voice import ResponsesVoice
from headstart.dialects.whole_request import WholeRequest, not_chat
from headstart.server.call import Call
from headstart.server.context import Context
from headstart.server.gemini import finder
from headstart.server.prepare import to_prompt
from headstart.text.locate import message_ends

GEMINI = re.compile(r"/v1(?:beta)?/models/(.+):(?:generateContent|streamGenerateContent)")


def rendered(ctx: Context, call: Call, asked: WholeRequest) -> dict[str, Any]:
    """Ids, and the tokens through each part of the body and each message. Raises ApiError.

    A message is what the chat template is given, a system prompt among them; its end is null where
    the prompt doesn't show it. `adapter` is part of what KV is found by; the request is under the
    contract of `vendor`.
    """
    tenant = call.caller.tenant
    vendor, chat = _parse(ctx, call, asked)
    adapter = ctx.adapter(chat.model)
    text = ctx.codec.render(chat.conversation)
    prompt = to_prompt(ctx.codec, chat, text, ctx.codec.encode(text, tenant), tenant)
    contents = [message.content or "" for message in chat.conversation.messages]
    ruler = ctx.codec.ruler(text, prompt.ids, tenant)
    return {
        "count": prompt.tokens,
        "max_model_len": ctx.engine.context_length,
        "tokens": list(prompt.ids),
        "parts": [
            {"path": part.path, "kind": part.kind, "message": part.message, "end": end}
            for part, end in zip(prompt.blocks, prompt.ends, strict=True)
        ],
        "messages": [
            None if place is None else ruler.tokens_through(place)
            for place in message_ends(text, contents)
        ],
        "adapter": adapter,
        "vendor": ctx.terms.of(chat.model, vendor).profile.vendor,
    }


def _parse(ctx: Context, call: Call, asked: WholeRequest) -> tuple[str, ChatRequest]:
    """What the endpoint at that path would be asked for, and its dialect's vendor."""
    path, body = asked.path.partition("?")[0], asked.content
    gemini = GEMINI.fullmatch(path)
    if gemini:
        where = Envelope(asked.headers, {"model": gemini[1]})
        return _in(GeminiGenerate(finder(ctx, call, [])), body, where)
    match path:
        case "/v1/chat/completions":
            return _in(OpenAIChat(), body, Envelope(asked.headers))
        case "/chat/completions":
            return _in(DeepSeekChat(), body, Envelope(asked.headers))
        case "/v1/messages":
            return _in(AnthropicMessages(), body, Envelope({HEADER: OLD, **asked.headers}))
        case "/v1/responses":
            kept = ctx.kept.of(call.caller.tenant)
            chat = parse_create(body, kept, call.id).chat
            return ResponsesVoice.vendor, within(chat, Envelope(asked.headers))
        case _:
            raise not_chat(path)


def _in(dialect: Dialect, body: bytes, envelope: Envelope) -> tuple[str, ChatRequest]:
    return dialect.vendor, dialect.parse(body, envelope)
