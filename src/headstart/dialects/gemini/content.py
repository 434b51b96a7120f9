"""`Content` and its parts, as they come over the wire."""

import binascii
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from headstart.dialects.errors import ApiError, invalid


class Blob(Struct):
    """Bytes in the body, in base64."""

    mime_type: str = ""
    data: str = ""
    display_name: str | None = None


class FileData(Struct):
    """Bytes elsewhere."""

    mime_type: str = ""
    file_uri: str = ""
    display_name: str | None = None


class FunctionCall(Struct):
    """What the model called."""

    name: str = ""
    args: dict[str, Any] | None = None
    id: str | None = None


class FunctionResponse(Struct):
    """What came of it. What shapes live sessions is taken and says nothing here."""

    name: str = ""
    response: dict[str, Any] | None = None
    id: str | None = None
    parts: list[Any] | None = None
    will_continue: bool | None = None
    scheduling: str | None = None


class Part(Struct, kw_only=True):
    """One piece: text, a call or a response; the others are known, to be refused by name."""

    text: str | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    executable_code: Any = None
    code_execution_result: Any = None
    thought: bool | None = None
    thought_signature: str | None = None
    video_metadata: Any = None
    media_resolution: Any = None
    part_metadata: Any = None


class Content(Struct):
    """One turn, or a piece of one."""

    role: str | None = None
    parts: list[Part] | None = None


MODALITIES = {"image": "Image", "audio": "Audio", "video": "Video"}


def pieces(content: Content, path: str, model: str) -> Iterator[tuple[str, Part]]:
    """The parts that a text model reads, with their paths. Raises ApiError 400 for others.

    Text that comes as a file is text: so Google's own caching sample sends its document
    (google-gemini/generative-ai-python, samples/rest/cache.sh). Thoughts that are sent back aren't
    shown to the model.
    """
    if not content.parts:
        message = f"* GenerateContentRequest.{path}.parts: contents.parts must not be empty.\n"
        raise invalid(message, f"{path}.parts")
    for index, part in enumerate(content.parts):
        place = f"{path}.parts[{index}]"
        _check(part, place, model)
        if part.inline_data is not None:
            yield place, Part(text=_decoded(part.inline_data, f"{place}.inline_data.data"))
        elif not part.thought:
            yield place, part


def _check(part: Part, path: str, model: str) -> None:
    if part.file_data is not None:
        raise _no_modality(part.file_data.mime_type, path, model)
    if part.inline_data is not None and not part.inline_data.mime_type.startswith("text/"):
        raise _no_modality(part.inline_data.mime_type, path, model)
    if part.executable_code is not None or part.code_execution_result is not None:
        raise invalid(f"Code execution is not enabled for models/{model}", path)
    said = (part.text, part.inline_data, part.function_call, part.function_response)
    count = len(said) - said.count(None)
    if not count and not part.thought:
        message = (
            f"* GenerateContentRequest.{path}.data: required oneof field 'data' must have one "
            "initialized field\n"
        )
        raise invalid(message, path)
    if count > 1:
        raise invalid(
            f"Invalid value at '{path}' (oneof), oneof field 'data' is already set.", path
        )


def _decoded(blob: Blob, path: str) -> str:
    try:
        return b64decode(blob.data, validate=True).decode()
    except (binascii.Error, ValueError):
        message = f"Invalid value at '{path}' (TYPE_BYTES), no base64 of a text in UTF-8"
        raise invalid(message, path) from None


def _no_modality(mime_type: str, path: str, model: str) -> ApiError:
    kind = MODALITIES.get(mime_type.partition("/")[0], "Document")
    return invalid(f"{kind} input modality is not enabled for models/{model}", path)
