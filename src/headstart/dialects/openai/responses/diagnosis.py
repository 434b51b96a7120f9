"""`prompt_cache_diagnostics`."""

from typing import Any

from headstart.contracts.diagnosis import Diagnosis


def render_diagnosis(diagnosis: Diagnosis) -> dict[str, Any]:
    """A miss has its reason and its tokens; the other types say it all."""
    if diagnosis.reason is None:
        return {"type": diagnosis.type}
    told = {
        "type": diagnosis.type,
        "reason": diagnosis.reason,
        "cache_missed_tokens": diagnosis.missed,
    }
    if diagnosis.reusable is not None:
        told["comparison_reusable_tokens"] = diagnosis.reusable
    return told
