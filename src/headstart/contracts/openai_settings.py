"""What both of OpenAI's regimes say about settings."""

from collections.abc import Collection, Mapping

from headstart.contracts.contract import Refusal

BREAKERS = (
    "parallel_tool_calls",
    "text.format",
    "reasoning.effort",
    "text.verbosity",
    "service_tier",
    "organization",
)
"""A change of one of these is a new prefix (O3; the tier: the diagnostics guide; O15).

Not in it: `tool_choice`, sampling, limits, metadata. They may be given and change nothing.
"""
DEFAULTS: Mapping[str, str] = {
    "parallel_tool_calls": "true",
    "text.format": '{"type":"text"}',
    "text.verbosity": '"medium"',
    "service_tier": '"auto"',
}


def breaking(settings: Mapping[str, str]) -> dict[str, str]:
    """Those settings that make another prefix."""
    return {
        name: value
        for name, value in settings.items()
        if name in BREAKERS and DEFAULTS.get(name) != value
    }


def check_value(value: str, allowed: Collection[str], path: str) -> None:
    """Raises Refusal for a value that isn't one of these."""
    if value not in allowed:
        quoted = " and ".join(f"'{name}'" for name in allowed)
        raise Refusal(
            f"Invalid value: '{value}'. Supported values are: {quoted}.",
            path=path,
            code="invalid_value",
        )
