"""A layout for programs."""

import json
from typing import Any

from headstart.insight.layout.document import Laid, Layout, Part
from headstart.insight.layout.proof import Cost

SCHEMA_VERSION = 1


def as_json(layout: Layout) -> str:
    """The same layout is the same text. Dollars are strings, exact; null is unknown."""
    said = {
        "schema_version": SCHEMA_VERSION,
        "tokens": layout.counted,
        "families": [_family(laid) for laid in layout.families],
    }
    return json.dumps(said, ensure_ascii=False, indent=2) + "\n"


def _family(laid: Laid) -> dict[str, Any]:
    return {
        "vendor": laid.vendor,
        "model": laid.model,
        "requests": laid.requests,
        "sessions": laid.sessions,
        "proof": "imagined" if laid.imagined else "replayed",
        "parts": [_part(part) for part in laid.parts],
        "tool_orders": laid.tool_orders,
        "block_size": laid.block,
        "segments": [
            {
                "segment": size.segment.key,
                "tokens": size.tokens,
                "through": size.through,
                "aligned": size.aligned,
                "odd": size.odd,
            }
            for size in laid.sizes
        ],
        "markers": [
            {
                "after": marker.after,
                "pointer": marker.pointer,
                "tokens": marker.tokens,
                "lifetime": marker.lifetime,
            }
            for marker in laid.markers
        ],
        "gaps": [
            {"lifetime": gap.lifetime, "seconds": gap.seconds, "within": gap.within}
            for gap in laid.gaps
        ],
        "given": _cost(laid.given),
        "suggested": _cost(laid.suggested),
        "advice": list(laid.advice),
    }


def _part(part: Part) -> dict[str, Any]:
    return {
        "segment": part.segment.key,
        "pointer": part.pointer,
        "tokens": part.tokens,
        "requests": part.requests,
        "values": part.values,
        "evidence": "measured" if part.seen else "estimated",
        "text": part.text,
        "behind": part.behind,
        "to": part.to or None,
    }


def _cost(cost: Cost) -> dict[str, Any]:
    return {
        "prompt": cost.prompt,
        "read": cost.read,
        "written": cost.written,
        "rate": cost.rate,
        "weight": str(cost.weight),
        "paid": None if cost.paid is None else str(cost.paid),
        "refused": cost.refused,
        "resent": cost.resent,
    }
