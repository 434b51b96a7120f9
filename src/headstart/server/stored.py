"""Responses that are kept: `/v1/responses/{response_id}` and what is below it."""

from starlette.responses import Response

from headstart.dialects.openai.listing import list_items, parse_page
from headstart.dialects.openai.responses.listed import Listed
from headstart.dialects.openai.responses.refusals import (
    not_cancellable,
    not_streamable,
    response_not_found,
)
from headstart.dialects.openai.responses.turn import Turn
from headstart.server.call import Call
from headstart.server.context import Context
from headstart.server.responses import json_response


async def retrieve(ctx: Context, call: Call) -> Response:
    """The response as it was sent. Raises ApiError 404, and 400 for a stream."""
    turn = _turn(ctx, call)
    if call.request.query_params.get("stream", "false") != "false":
        raise not_streamable()
    return Response(turn.body, media_type="application/json")


async def delete(ctx: Context, call: Call) -> Response:
    """Forget it. Raises ApiError 404."""
    turn = _turn(ctx, call)
    ctx.kept.of(call.caller.tenant).delete(turn.id)
    ctx.compared.forget(call.caller.tenant, turn.id)
    return json_response({"id": turn.id, "object": "response", "deleted": True})


async def cancel(ctx: Context, call: Call) -> Response:
    """Refused for what is here, 404 for what isn't."""
    _turn(ctx, call)
    raise not_cancellable()


async def input_items(ctx: Context, call: Call) -> Response:
    """The items of its own request, page by page. Raises ApiError 404 and 400."""
    page = parse_page(call.request.query_params)
    items = _turn(ctx, call).said.items
    return json_response(list_items(items, page, lambda each: each.id, Listed.shown))


def _turn(ctx: Context, call: Call) -> Turn:
    response_id = call.request.path_params["response_id"]
    turn = ctx.kept.of(call.caller.tenant).get(response_id)
    if turn is None:
        raise response_not_found(response_id)
    return turn
