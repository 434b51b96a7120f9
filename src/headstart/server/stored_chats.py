"""Chat completions that are kept: `GET /v1/chat/completions` and what is below it."""

import msgspec
from starlette.responses import Response

from headstart.dialects.openai.listing import list_items, parse_page
from headstart.dialects.openai.stored_chat import Said, StoredChat, parse_update, parse_wanted
from headstart.server.call import Call
from headstart.server.context import Context
from headstart.server.kept_chats import KeptChats
from headstart.server.responses import json_response


async def list_all(ctx: Context, call: Call) -> Response:
    """The caller's, of one model and with certain metadata if so asked. Raises ApiError 400."""
    query = call.request.query_params
    page = parse_page(query, "asc")
    found = parse_wanted(query.multi_items()).among(_chats(ctx, call))
    listed = list_items(found, page, lambda chat: chat.id, lambda chat: msgspec.Raw(chat.body))
    return json_response(listed)


async def retrieve(ctx: Context, call: Call) -> Response:
    """One of them, and what of its request goes with it. Raises ApiError 404."""
    return _shown(_chats(ctx, call).get(_name(call)))


async def update(ctx: Context, call: Call) -> Response:
    """Give it other metadata. Raises ApiError 404 and 400."""
    body = await call.body(ctx.settings.max_body_bytes)
    chats = _chats(ctx, call)
    changed = chats.get(_name(call)).with_metadata(parse_update(body))
    chats.keep(changed)
    return _shown(changed)


async def delete(ctx: Context, call: Call) -> Response:
    """Forget it. Raises ApiError 404."""
    name = _name(call)
    _chats(ctx, call).delete(name)
    return json_response({"id": name, "object": "chat.completion.deleted", "deleted": True})


async def messages(ctx: Context, call: Call) -> Response:
    """Those of its request, page by page. Raises ApiError 404 and 400."""
    page = parse_page(call.request.query_params, "asc")
    said = _chats(ctx, call).get(_name(call)).said()
    return json_response(list_items(said, page, lambda each: each.id, Said.shown))


def _chats(ctx: Context, call: Call) -> KeptChats:
    return ctx.kept.chats(call.caller.tenant)


def _name(call: Call) -> str:
    return str(call.request.path_params["id"])


def _shown(chat: StoredChat) -> Response:
    return Response(chat.body, media_type="application/json")
