"""`cachedContents`: the bodies that come, and the resource that goes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from headstart.contracts.cached_contents import CachedContent
from headstart.dialects.errors import invalid
from headstart.dialects.gemini.content import Content
from headstart.dialects.gemini.functions import Tool, ToolConfig
from headstart.dialects.gemini.prompt import PromptFields, numbered
from headstart.dialects.gemini.times import moment, read_duration, read_moment
from headstart.dialects.gemini.wire import camel, read

FIELD = "cached_content"
LONGEST = 10.0**9
"""Seconds of life that are still told apart from for ever."""


class CachedContentFields(Struct, kw_only=True):
    """The resource, as clients write it."""

    model: str | None = None
    name: str | None = None
    display_name: str | None = None
    system_instruction: Content | None = None
    tools: list[Tool] | None = None
    tool_config: ToolConfig | None = None
    contents: list[Content] | None = None
    ttl: str | None = None
    expire_time: str | None = None
    create_time: Any = None
    update_time: Any = None
    usage_metadata: Any = None


@dataclass(frozen=True, slots=True)
class End:
    """When a resource shall end: after so many seconds, or at a moment. Both are told if sent."""

    ttl: float | None
    expires: float | None


@dataclass(frozen=True, slots=True)
class Create:
    """`POST /{version}/cachedContents`."""

    model: str
    prompt: PromptFields
    end: End
    display_name: str


def parse_create(body: bytes) -> Create:
    """Raises ApiError 400."""
    fields = read(body, CachedContentFields, FIELD)
    if not fields.model:
        message = "* CreateCachedContentRequest.cached_content.model: model is not specified\n"
        raise invalid(message, f"{FIELD}.model")
    contents = numbered(fields.contents)
    if not (contents or fields.system_instruction or fields.tools):
        message = "* CreateCachedContentRequest.cached_content: there is nothing to cache\n"
        raise invalid(message, FIELD)
    return Create(
        fields.model.removeprefix("models/"),
        PromptFields(
            fields.system_instruction, tuple(fields.tools or ()), fields.tool_config, contents
        ),
        _end(fields),
        fields.display_name or "",
    )


def parse_patch(body: bytes) -> End:
    """Only the end can be changed (rule G4). Raises ApiError 400."""
    fields = read(body, CachedContentFields, FIELD)
    if fields.name is not None:
        message = (
            "Invalid value at 'cached_content' (oneof), oneof field '_name' is already set. "
            "Cannot set 'name'"
        )
        raise invalid(message, FIELD)
    for name, value in msgspec.structs.asdict(fields).items():
        if value is not None and name not in ("ttl", "expire_time"):
            raise invalid(f"Only ttl and expire_time can be updated, not {camel(name)}.", FIELD)
    return _end(fields)


def _end(fields: CachedContentFields) -> End:
    ttl = None if fields.ttl is None else read_duration(fields.ttl, f"{FIELD}.ttl")
    if ttl is not None and ttl > LONGEST:
        raise invalid(f"'{FIELD}.ttl': {fields.ttl} is too long.", f"{FIELD}.ttl")
    at = fields.expire_time
    return End(ttl, None if at is None else read_moment(at, f"{FIELD}.expire_time"))


def resource(content: CachedContent[Any]) -> dict[str, Any]:
    """The resource, as clients read it: never what is cached."""
    return {
        "name": content.name,
        "model": content.model,
        "displayName": content.display_name,
        "createTime": moment(content.created),
        "updateTime": moment(content.updated),
        "expireTime": moment(content.expires),
        **told(content),
    }


def told(content: CachedContent[Any]) -> dict[str, Any]:
    """What the resource tells of its size."""
    return {"usageMetadata": {"totalTokenCount": content.tokens}}


def resource_list(page: Sequence[CachedContent[Any]], token: str | None) -> dict[str, Any]:
    """A page of them; empty, it is `{}`."""
    body: dict[str, Any] = {"cachedContents": [resource(each) for each in page]} if page else {}
    if token is not None:
        body["nextPageToken"] = token
    return body
