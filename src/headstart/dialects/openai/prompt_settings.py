"""What OpenAI counts to a prompt without its being a part of it (rule O3)."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headstart.dialects.openai.values import choose

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
VERBOSITIES = ("low", "medium", "high")
TIERS = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")
TIER = "default"
"""The only one here, and so what every answer reports."""


def prompt_settings(
    *,
    parallel_tool_calls: bool | None,
    text_format: Mapping[str, Any] | None,
    effort: str | None,
    verbosity: str | None,
    service_tier: str | None,
) -> dict[str, str]:
    """Those that were sent, as JSON, by the rules' names for them."""
    told = {
        "parallel_tool_calls": parallel_tool_calls,
        "text.format": text_format,
        "reasoning.effort": effort,
        "text.verbosity": verbosity,
        "service_tier": service_tier,
    }
    return {
        name: msgspec.json.encode(value).decode()
        for name, value in told.items()
        if value is not None
    }


def check_settings(
    effort: str | None, verbosity: str | None, tier: str | None, *, paths: tuple[str, str]
) -> None:
    """Raises ApiError 400 for values OpenAI doesn't know. `paths`: of effort and verbosity.

    A model without reasoning meets any effort with none, and the tier answered from is the default:
    both are hints that change the cache's prefix and nothing else.
    """
    choose(effort, EFFORTS, paths[0])
    choose(verbosity, VERBOSITIES, paths[1])
    choose(tier, TIERS, "service_tier")
