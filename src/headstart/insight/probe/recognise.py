"""Which dialect an endpoint speaks, told by how it answers a question without a key."""

from typing import Any

import msgspec


def recognise(body: bytes) -> str | None:
    """The dialect of a list of models or of a refusal to give one; None is none that is known.

    Lists: OpenAI's `object: list`, Anthropic's `type: model`, Gemini's `models/…`. Refusals:
    Anthropic's `type: error`, Google's numeric code and status, OpenAI's `error`.
    """
    try:
        answer = msgspec.json.decode(body)
    except msgspec.MsgspecError:
        return None
    match answer:
        case {"type": "error", "error": {}} | {"data": [{"type": "model"}, *_]}:
            return "anthropic"
        case {"error": {"code": int(), "status": str()}} | {"models": [{"name": str()}, *_]}:
            return "gemini"
        case [{"error": {"code": int(), "status": str()}}, *_]:
            return "gemini"
        case {"error": {"message": str()}} | {"error": str()} | {"data": [{"id": str()}, *_]}:
            return "openai-chat"
        case _:
            return None


def model_names(body: bytes) -> list[str]:
    """The names in a list of models of any dialect; none where it is no such list."""
    try:
        answer = msgspec.json.decode(body)
    except msgspec.MsgspecError:
        return []
    match answer:
        case {"data": [*models]}:
            return _named(models, "id")
        case {"models": [*models]}:
            return [name.removeprefix("models/") for name in _named(models, "name")]
        case _:
            return []


def _named(models: list[Any], field: str) -> list[str]:
    return [each[field] for each in models if isinstance(each, dict) and field in each]
