"""Chat completions that are kept (`store: true`): what is asked of them, and how they are shown.

The shapes are those of the examples in OpenAI's API reference (2026-11).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec import Struct

from headstart.dialects.body import convert, decode_object
from headstart.dialects.errors import ApiError, invalid
from headstart.dialects.openai.metadata import Metadata

ECHOED: Mapping[str, Any] = {
    "tool_choice": None,
    "seed": None,
    "top_p": 1.0,
    "temperature": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "tools": None,
    "response_format": None,
}
"""Fields of the request that are shown with its answer, and what they are where it has none."""
_FILTER = re.compile(r"metadata\[(.*)\]", re.DOTALL)


class StoreFields(Struct):
    """The field of a chat completion's request that says what becomes of it."""

    store: bool | None = None


class StoredFields(StoreFields):
    """And what is kept beside it."""

    metadata: Metadata | None = None


class UpdateFields(Struct, forbid_unknown_fields=True):
    """All that can be changed."""

    metadata: Metadata | None


@dataclass(frozen=True, slots=True)
class StoredChat:
    """A chat completion that is kept."""

    id: str
    created: int
    model: str
    metadata: Mapping[str, str]
    body: bytes
    """As it is shown, in JSON."""
    messages: bytes
    """Those of its request, in JSON."""

    def said(self) -> list["Said"]:
        """The messages, each with its own id."""
        messages: list[dict[str, Any]] = msgspec.json.decode(self.messages)
        return [Said(f"{self.id}-{i}", each) for i, each in enumerate(messages)]

    def with_metadata(self, metadata: Mapping[str, str]) -> "StoredChat":
        """The same completion, and other metadata instead of its own."""
        body = msgspec.json.decode(self.body) | {"metadata": metadata}
        return replace(self, metadata=metadata, body=msgspec.json.encode(body))


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the request that a completion answered."""

    id: str
    raw: Mapping[str, Any]

    def shown(self) -> dict[str, Any]:
        """As JSON. A content of parts is shown as parts, and a refusal apart from them."""
        raw, content = self.raw, self.raw.get("content")
        parts = content if isinstance(content, list) else []
        refusals = [part["refusal"] for part in parts if part["type"] == "refusal"]
        return {
            "id": self.id,
            "role": raw["role"],
            "content": None if isinstance(content, list) else content,
            "content_parts": [part for part in parts if part["type"] != "refusal"] or None,
            "name": raw.get("name"),
            "refusal": "\n".join(refusals) or None,
            **{key: raw[key] for key in ("tool_calls", "tool_call_id") if key in raw},
        }


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which of the completions that are kept are to be listed."""

    model: str | None
    metadata: Mapping[str, str]

    def among(self, chats: Iterable[StoredChat]) -> list[StoredChat]:
        """Those, in the order in which they were asked for."""
        found = [chat for chat in chats if self._matches(chat)]
        return sorted(found, key=lambda chat: chat.created)

    def _matches(self, chat: StoredChat) -> bool:
        return self.model in (None, chat.model) and self.metadata.items() <= chat.metadata.items()


def read_store(raw: Mapping[str, Any], *, openai: bool) -> Mapping[str, str] | None:
    """The metadata of a completion that is to be kept; None if it isn't to be. Raises ApiError 400.

    `openai`: a model of OpenAI's is meant. Then metadata is refused where nothing is kept, as was
    seen there (QwenLM/qwen-code#243, tmc/langchaingo#1484); else it has no effect.
    """
    store = convert(_of(raw, StoreFields), StoreFields).store
    if not store and not openai:
        return None
    metadata = convert(_of(raw, StoredFields), StoredFields).metadata
    if not store and metadata:
        message = "The 'metadata' parameter is only allowed when 'store' is enabled."
        raise invalid(message, "metadata")
    return metadata or {} if store else None


def _of(raw: Mapping[str, Any], fields: type[Struct]) -> dict[str, Any]:
    return {name: raw[name] for name in fields.__struct_fields__ if name in raw}


def to_stored(
    completion: Mapping[str, Any],
    raw: Mapping[str, Any],
    metadata: Mapping[str, str],
    request_id: str,
) -> StoredChat:
    """What is kept of a completion and the body that asked for it."""
    shown = {
        **completion,
        "request_id": request_id,
        "input_user": raw.get("user"),
        "metadata": metadata,
        **{
            name: default if raw.get(name) is None else raw[name]
            for name, default in ECHOED.items()
        },
    }
    return StoredChat(
        id=completion["id"],
        created=completion["created"],
        model=completion["model"],
        metadata=metadata,
        body=msgspec.json.encode(shown),
        messages=msgspec.json.encode(raw["messages"]),
    )


def parse_wanted(query: Sequence[tuple[str, str]]) -> Wanted:
    """From a URL's query."""
    named = [(_FILTER.fullmatch(name), value) for name, value in query]
    return Wanted(
        model=dict(query).get("model"),
        metadata={found[1]: value for found, value in named if found is not None},
    )


def parse_update(body: bytes) -> Mapping[str, str]:
    """The new metadata. Raises ApiError 400."""
    return convert(decode_object(body), UpdateFields).metadata or {}


def chat_not_found(name: str) -> ApiError:
    """None of this tenant's, not kept, or no more."""
    return ApiError(404, f"Chat completion with id '{name}' not found.")
