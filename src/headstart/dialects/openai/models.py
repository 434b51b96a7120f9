"""`GET /v1/models`."""

from collections.abc import Sequence
from typing import Any


def model(name: str, created: int, parent: str | None = None) -> dict[str, Any]:
    """One model; an adapter names the base model as its `parent`."""
    entry: dict[str, Any] = {
        "id": name,
        "object": "model",
        "created": created,
        "owned_by": "headstart",
    }
    if parent is not None:
        entry["parent"] = parent
    return entry


def model_list(models: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The whole list."""
    return {"object": "list", "data": list(models)}
