"""`GET /v1/usage`: sums over the ledger, as `headstart ledger --json` prints them."""

import asyncio
from pathlib import Path
from typing import Any

from starlette.responses import Response

from headstart.dialects.errors import ApiError, invalid
from headstart.ledger import BYS, LedgerError, as_dict, report, since
from headstart.server.call import Call
from headstart.server.context import Context
from headstart.server.responses import json_response

DEFAULT_SINCE = "24h"
"""A report costs by the rows it adds up."""
FLUSH_SECONDS = 1.0


async def usage(ctx: Context, call: Call) -> Response:
    """The caller's own requests; for the operator everybody's, or those of `?tenant=`."""
    store, path = ctx.books.store, ctx.settings.ledger
    if store is None or path is None:
        message = "This server keeps no ledger: start it with --ledger FILE."
        raise ApiError(404, message, code="no_ledger")
    ctx.contents.bill(call.began)
    query = call.request.query_params
    tenant = query.get("tenant") if call.caller.operator else call.caller.tenant
    asked_by = query.get("by")
    by = next((each for each in BYS if each == asked_by), None)
    if asked_by is not None and by is None:
        raise invalid(f"'by' is one of {', '.join(BYS)}.", "by", "invalid_value")
    begin = _moment(query.get("since", DEFAULT_SINCE), call.began, "since")
    until = query.get("until")
    end = None if until is None else _moment(until, call.began, "until")

    def add_up() -> dict[str, Any]:
        store.flush(FLUSH_SECONDS)
        return as_dict(report(Path(path), by, since=begin, until=end, tenant=tenant))

    try:
        return json_response(await asyncio.to_thread(add_up))
    except LedgerError as error:
        raise ApiError(503, str(error), type="server_error", code="no_ledger") from error


def _moment(text: str, now: float, field: str) -> float:
    try:
        return since(text, now)
    except ValueError as error:
        raise invalid(f"'{field}': {error}.", field, "invalid_value") from None
