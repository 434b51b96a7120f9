"""`GET /v1/models`."""

from collections.abc import Sequence
from typing import Any

from headstart.ledger.rules import Profile


def model(name: str, created: int, profile: Profile, parent: str | None = None) -> dict[str, Any]:
    """One model; an adapter names the base model as its `parent`.

    `cache` is ours: which contract it is billed by, from how many prompt tokens on something is
    cached, and the multiple that reads are told in.
    """
    entry: dict[str, Any] = {
        "id": name,
        "object": "model",
        "created": created,
        "owned_by": "headstart",
        "cache": {
            "contract": profile.contract,
            "minimum": profile.minimum,
            "unit": profile.unit,
        },
    }
    if parent is not None:
        entry["parent"] = parent
    return entry


def model_list(models: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The whole list."""
    return {"object": "list", "data": list(models)}
