"""`POST /v1/messages/count_tokens`."""

from starlette.responses import Response

from headstart.dialects.anthropic.chat import AnthropicMessages
from headstart.dialects.anthropic.request import parse_count
from headstart.server.call import Call
from headstart.server.context import Context, offload
from headstart.server.prepare import locate
from headstart.server.responses import json_response


async def count_tokens(ctx: Context, call: Call) -> Response:
    """What the prompt of a message would be billed as in all. No cache is read or written."""
    body = await call.body(ctx.settings.max_body_bytes)
    return json_response({"input_tokens": await offload(body, _count, ctx, body, call)})


def _count(ctx: Context, body: bytes, call: Call) -> int:
    """Raises what a request for the message itself would: its marks are checked too."""
    asked = parse_count(body, call.envelope)
    ctx.adapter(asked.model)
    terms = ctx.terms.of(asked.model, AnthropicMessages.vendor)
    prompt = locate(ctx, asked, call.caller.tenant)
    terms.contract.plan(prompt, terms.entries, call.began)
    return prompt.tokens
