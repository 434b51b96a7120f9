"""`/kv/snapshot`: all that can be found, for a router that has lost its place in the events."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from starlette.responses import Response

from headstart.cache import Stored
from headstart.cluster.kv_events import Wire, WireEvent
from headstart.server.call import Call
from headstart.server.context import Context
from headstart.server.publishing import wire
from headstart.server.responses import json_response


async def snapshot(ctx: Context, _: Call) -> Response:
    """The events that would lead to this picture from nothing, and the number of the next batch.

    To start over: subscribe, take a snapshot, then apply the batches from `next_seq` on. `started`
    differs after a restart. Hashes are as in the events, whole ones in hex.
    """
    source, picture = ctx.engine.kv_source, ctx.engine.kv_picture()
    form = wire(ctx.settings, source)
    if form.hashes == "bytes":
        form = replace(form, hashes="hex")
    return json_response(
        {
            "next_seq": picture.next_seq,
            "started": ctx.created,
            "block_size": source.block_size,
            "medium": source.medium,
            "events": await asyncio.to_thread(_written, form, picture.stored),
        }
    )


def _written(form: Wire, stored: Sequence[Stored]) -> list[WireEvent]:
    return [form.event(event) for event in stored]
