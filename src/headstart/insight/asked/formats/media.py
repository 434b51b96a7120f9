"""Pictures, sounds and files: named by a digest of their bytes, or by where they are."""

import binascii
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from headstart.insight.asked.formats.values import fields, text
from headstart.insight.asked.piece import plain_json, utf8

KINDS = ("image", "audio", "video", "file")


def of_base64(data: str) -> str:
    """A digest of the bytes, so that two encodings of the same are one. Of no base64: of its text.

    In hex, behind `blake2b:`.
    """
    try:
        said = binascii.a2b_base64(utf8(data.translate(_URL_SAFE)))
    except binascii.Error:
        said = utf8(data)
    return f"blake2b:{blake2b(said, digest_size=16).hexdigest()}"


_URL_SAFE = str.maketrans("-_", "+/")


def of_url(url: str) -> str:
    """A URL as it stands; of a `data:` URL, a digest of what it holds."""
    head, comma, data = url.partition(",")
    return of_base64(data) if comma and head.startswith("data:") else url


def of_value(value: Any) -> str:
    """Of a URL, an object with one, or one with bytes; else its JSON."""
    if isinstance(value, str):
        return of_url(value)
    held = fields(value)
    for name in ("data", "file_data", "bytes"):
        if isinstance(held.get(name), str):
            return of_url(held[name]) if held[name][:5] == "data:" else of_base64(held[name])
    for name in ("url", "file_id", "fileUri", "file_uri", "uri", "id"):
        if isinstance(held.get(name), str):
            return of_url(held[name])
    return plain_json(value)


def kind_of(mime_type: Any) -> str:
    """`image` of `image/png`; of what isn't seen or heard, `file`."""
    kind = text(mime_type).partition("/")[0]
    return kind if kind in KINDS else "file"


def source_kind(block: Mapping[str, Any]) -> str:
    """`image`, `audio`, … by a block's type: `input_image`, `image_url`, `document`."""
    said = text(block.get("type"))
    return next((kind for kind in KINDS if kind in said), "file")
