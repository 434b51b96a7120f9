"""From an exchange that has ended to a line of a recording (`asked/files/recorded.py` reads it)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx
import msgspec

from headstart.insight.asked.formats.values import fields, text
from headstart.insight.asked.usage import find
from headstart.insight.record.exchange import Exchange
from headstart.insight.sse import SSEDecoder

Redact = Callable[[Any], Any]


def line(
    exchange: Exchange,
    *,
    beside: Mapping[str, str],
    redact: Redact | None = None,
    answers: bool = False,
) -> bytes | None:
    """With its line feed; None for what is no request. `beside`: tenant, session, route, …

    The body stands there in its own bytes, unless it is redacted or written over several lines.
    """
    try:
        asked = msgspec.json.decode(exchange.body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if not isinstance(asked, dict):
        return None
    events = list(_events(exchange))
    record: dict[str, Any] = {
        "id": _id(events) or exchange.request_id,
        "request_id": exchange.request_id,
        "time": exchange.time,
        "url": exchange.url,
        "headers": exchange.headers,
        "status": exchange.status,
        **beside,
        "ttft": _since(exchange, exchange.first) if _streams(exchange) else None,
        "duration": _since(exchange, exchange.ended),
        "usage": find(events),
        "model": next((text(each.get("model")) for each in events if each.get("model")), ""),
        "error": exchange.error,
        "cut": exchange.cut or None,
    }
    if answers and redact is None:
        record["response"] = events[0] if len(events) == 1 else events
    known = {name: value for name, value in record.items() if value not in (None, "", {}, [])}
    return msgspec.json.encode(known | {"body": _body(exchange.body, asked, redact)}) + b"\n"


def _body(sent: bytes, asked: Any, redact: Redact | None) -> Any:
    if redact is not None:
        return redact(asked)
    if b"\n" in sent or b"\r" in sent:
        return sent.decode()  # As a text: its own line feeds would end the record.
    return msgspec.Raw(sent)


def _since(exchange: Exchange, moment: float | None) -> float | None:
    return None if moment is None else round(moment - exchange.began, 6)


def _streams(exchange: Exchange) -> bool:
    return exchange.kind.startswith("text/event-stream")


def _events(exchange: Exchange) -> Iterator[dict[str, Any]]:
    """The objects of the answer: one, or those of a stream."""
    data = _decoded(exchange)
    payloads = [data]
    if _streams(exchange):
        payloads = SSEDecoder().feed(data + b"\n\n")
    for payload in payloads:
        try:
            value = msgspec.json.decode(payload)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            continue  # `[DONE]`, what was cut, what is no JSON.
        yield from map(fields, value if isinstance(value, list) else [value])


def _decoded(exchange: Exchange) -> bytes:
    """Without its content coding; nothing where it can't be undone."""
    if not exchange.encoding:
        return exchange.answer
    try:
        coded = {"content-encoding": exchange.encoding}
        return httpx.Response(200, headers=coded, content=exchange.answer).content
    except httpx.HTTPError:
        return b""


def _id(events: list[dict[str, Any]]) -> str:
    """The answer's own, as each vendor spells it."""
    for event in events:
        for held in (event, fields(event.get("message")), fields(event.get("response"))):
            found = text(held.get("id")) or text(held.get("responseId"))
            if found:
                return found
    return ""
