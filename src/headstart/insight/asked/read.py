"""From a body, and what a recording has beside it, to a request."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from headstart.insight.asked.asked import Asked, Format, Origin
from headstart.insight.asked.detect import (
    NO_SIGNS,
    Signs,
    format_of,
    model_of,
    shows_client_line,
    vendor_of,
)
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.formats import (
    anthropic,
    chat,
    completion,
    converse,
    gemini,
    responses,
)
from headstart.insight.asked.formats.contents import Contents
from headstart.insight.asked.formats.gateway import translated
from headstart.insight.asked.formats.values import named

READERS: Mapping[Format, Callable[[Mapping[str, Any]], Contents]] = {
    "anthropic": anthropic.read,
    "converse": converse.read,
    "chat": chat.read,
    "responses": responses.read,
    "gemini": gemini.read,
    "completion": completion.read,
}

NOWHERE = Origin("-")


def read(body: Any, signs: Signs = NO_SIGNS, origin: Origin = NOWHERE) -> Asked:
    """One request. Raises Unreadable, naming the place in the file and in the body."""
    if not isinstance(body, dict):
        raise _unreadable(f"a request is an object, this is {named(body)}", origin)
    form = format_of(body, signs)
    if form is None:
        raise _unreadable("no request: neither messages, contents, input nor prompt", origin)
    model = model_of(body, signs)
    vendor = vendor_of(form, model, signs)
    try:
        contents = READERS[form](body)
        if form == "chat":
            contents = translated(contents, body, vendor)
    except Unreadable as error:
        raise _unreadable(error.reason, origin) from None
    except RecursionError:
        raise _unreadable("nested too deeply", origin) from None
    pieces = contents.pieces
    if form == "anthropic" and not shows_client_line(vendor, signs):
        pieces = anthropic.as_shown(pieces)
    return Asked(
        form,
        vendor,
        model,
        pieces,
        body,
        contents.settings,
        contents.wishes,
        contents.partition,
        origin,
        tokens=contents.tokens,
    )


def _unreadable(reason: str, origin: Origin) -> Unreadable:
    return Unreadable(reason, origin.file, origin.number)


def without_body(model: str, signs: Signs = NO_SIGNS, origin: Origin = NOWHERE) -> Asked:
    """A request of which only the answer is known."""
    name = (model or signs.model).removeprefix("models/")
    return Asked("chat", vendor_of("chat", name, signs), name, (), {}, origin=origin)


def read_each(body: Any, signs: Signs = NO_SIGNS, origin: Origin = NOWHERE) -> Iterator[Asked]:
    """As many as the body has prompts: several only in a text completion. Raises Unreadable."""
    if isinstance(body, dict) and "prompt" in body and "messages" not in body:
        for each in completion.alone(body):
            yield replace(read(each, signs, origin), body=body)
    else:
        yield read(body, signs, origin)
