"""`anthropic-version`: which date's rules a request is held to."""

from collections.abc import Mapping
from typing import Any

from headstart.dialects.anthropic.blocks import DocumentBlock, Message, TextBlock
from headstart.dialects.anthropic.check import wrong
from headstart.dialects.dialect import Envelope

HEADER = "anthropic-version"
OLD = "2023-06-01"
NEW = "2026-10-21"
SAMPLING = ("temperature", "top_p", "top_k")
EXTRA = "Extra inputs are not permitted"


def version_of(envelope: Envelope) -> str:
    """The version. Raises ApiError 400 if there is none, or one that isn't spoken here."""
    version = envelope.headers.get(HEADER)
    if not version:
        raise wrong(HEADER, "header is required")
    if version not in (OLD, NEW):
        raise wrong(HEADER, f"'{version}' is not a version: send {NEW} or {OLD}")
    return version


def check_version(version: str, fields: Mapping[str, Any], messages: list[Message]) -> None:
    """What the version of 2026-10-21 turned away (its migration guide). Raises ApiError 400."""
    if version == OLD:
        return
    for name in SAMPLING:
        if name in fields:
            raise wrong(name, EXTRA)
    for index, message in enumerate(messages):
        content = message.content if isinstance(message.content, list) else ()
        for number, block in enumerate(content):
            if message.role == "assistant" and isinstance(block, DocumentBlock):
                problem = "`document` blocks can't be in `assistant` messages"
                raise wrong(f"messages.{index}.content.{number}", problem)
            if message.role == "user" and isinstance(block, TextBlock) and block.citations:
                raise wrong(f"messages.{index}.content.{number}.text.citations", EXTRA)
