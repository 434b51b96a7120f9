"""`GET /cache/explain/{request_id}`: why a request reused no more than it did."""

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from headstart.cache import Miss
from headstart.dialects.errors import ApiError
from headstart.server.call import Call
from headstart.server.context import Context
from headstart.server.reports import Report
from headstart.server.responses import json_response
from headstart.text.codec import Codec
from headstart.text.locate import message_at

WINDOW = 32
"""Tokens of text shown on either side."""


async def explain(ctx: Context, call: Call) -> Response:
    """The report of one request: its own tenant's to see, text only for the operator who asks.

    A completion of many prompts has a report for each; its own id names the first.
    """
    request_id = call.request.path_params["request_id"]
    report = ctx.reports.get(request_id) or ctx.reports.get(f"{request_id}-0")
    caller = call.caller
    if report is None or not (caller.operator or caller.tenant == report.tenant):
        message = f"No report of '{request_id}': it is unknown here, or too long ago."
        raise ApiError(404, message, code="report_not_found")
    wants_text = call.request.query_params.get("text") in ("1", "true")
    show = caller.operator and wants_text
    # Decoding costs by the prompt: too much for the event loop.
    return json_response(await asyncio.to_thread(_report, ctx.codec, report, show=show))


def miss_fields(miss: Miss) -> dict[str, Any]:
    """Reason and place of a miss, without any text."""
    lost = None
    if miss.ghost is not None:
        lost = {"by": miss.ghost.by, "seconds_ago": miss.lost_for, "tokens": miss.lost_tokens}
    return {"reason": miss.reason.value, "at": miss.at, "lost": lost, "fields": list(miss.fields)}


def _report(codec: Codec, report: Report, *, show: bool) -> dict[str, Any]:
    reuse, miss, prompt = report.reuse, report.reuse.miss, report.prompt
    assert miss is not None, "only settled accounts are reported"
    text = None
    if show:
        text = {
            "before": _text(codec, prompt[max(0, miss.at - WINDOW) : miss.at]),
            "prompt": _text(codec, prompt[miss.at : miss.at + WINDOW]),
            "cached": _text(codec, miss.cached_ahead),
        }
    return {
        "id": report.id,
        "prompt_tokens": reuse.prompt_tokens,
        "cached_tokens": reuse.cached_tokens,
        "sources": reuse.sources,
        **miss_fields(miss),
        "message": _message(codec, report, miss.at),
        "text": text,
    }


def _message(codec: Codec, report: Report, at: int) -> int | None:
    """The index of the message in which the prompt leaves what is cached."""
    if report.contents is None:
        return None
    whole = _text(codec, report.prompt)
    return message_at(whole, report.contents, len(_text(codec, report.prompt[:at])))


def _text(codec: Codec, tokens: Sequence[int]) -> str:
    return codec.decode(tokens, skip_special=False)
