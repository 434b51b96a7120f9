"""`POST /v1/chat/completions`: answered, and kept where that is asked for."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from headstart.dialects.body import decode_object
from headstart.dialects.dialect import Renderer
from headstart.dialects.openai.chat import OpenAIChat
from headstart.dialects.openai.chat_request import read_chat
from headstart.dialects.openai.keeping_chat import KeepingChat
from headstart.dialects.openai.organization import within
from headstart.dialects.openai.stored_chat import read_store, to_stored
from headstart.server.call import Call
from headstart.server.chat import Job, answer, to_job
from headstart.server.context import Context, offload

CHAT = OpenAIChat()


async def complete(ctx: Context, call: Call) -> Response:
    """A chat completion, whole or as a stream."""
    body = await call.body(ctx.settings.max_body_bytes)
    job, renderer = await offload(body, _prepare, ctx, body, call)
    return await answer(ctx, call, renderer, job)


def _prepare(ctx: Context, body: bytes, call: Call) -> tuple[Job, Renderer]:
    raw = decode_object(body)
    asked = within(read_chat(raw), call.envelope)
    vendor = ctx.terms.of(asked.model, CHAT.vendor).profile.vendor
    metadata = read_store(raw, openai=vendor == "openai")
    job = to_job(ctx, asked, body, call, CHAT)
    if metadata is None:
        return job, CHAT

    def keep(completion: Mapping[str, Any]) -> None:
        stored = to_stored(completion, raw, metadata, call.id)
        ctx.kept.chats(call.caller.tenant).keep(stored)

    return job, KeepingChat(CHAT, keep)
