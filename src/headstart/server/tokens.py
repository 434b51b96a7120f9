"""`POST /tokenize` and `POST /detokenize`, in the bodies that vLLM's clients send.

`/tokenize` also takes a request of any dialect whole, as `path` and `body`.
"""

from starlette.responses import Response

from headstart.dialects.openai.prompt_request import PromptRequest, parse_prompt, parse_tokens
from headstart.dialects.whole_request import parse_whole
from headstart.server.call import Call
from headstart.server.context import Context, offload
from headstart.server.prepare import check_ids, encode
from headstart.server.rendered import rendered
from headstart.server.responses import json_response


async def tokenize(ctx: Context, call: Call) -> Response:
    """The token ids of a text, or of messages as the chat template renders them."""
    body = await call.body(ctx.settings.max_body_bytes)
    return json_response(await offload(body, _tokenize, ctx, body, call))


def _tokenize(ctx: Context, body: bytes, call: Call) -> dict[str, object]:
    whole = parse_whole(body)
    if whole is not None:
        return rendered(ctx, call, whole)
    asked = parse_prompt(body, allow_tokens=False)
    ctx.adapter(asked.model)
    ids = [] if asked.prompt == "" else encode_asked(ctx, asked, call.caller.tenant)
    return {"count": len(ids), "max_model_len": ctx.engine.context_length, "tokens": ids}


def encode_asked(ctx: Context, asked: PromptRequest, tenant: str) -> list[int]:
    """Token ids of a prompt in any of its forms. Raises ApiError and TemplateError."""
    match asked.prompt:
        case str():
            field = "prompt"
        case tuple():
            field = "tokens"
        case _:
            field = "messages"
    ids = encode(ctx, asked.prompt, field, tenant, special_tokens=asked.special_tokens)
    return list(ids)


async def detokenize(ctx: Context, call: Call) -> Response:
    """The text of token ids, special tokens included."""
    body = await call.body(ctx.settings.max_body_bytes)
    return json_response(await offload(body, _detokenize, ctx, body))


def _detokenize(ctx: Context, body: bytes) -> dict[str, str]:
    asked = parse_tokens(body)
    ctx.adapter(asked.model)
    check_ids(ctx, asked.tokens, "tokens")
    return {"prompt": ctx.codec.decode(asked.tokens, skip_special=False)}
