"""Anthropic's `usage`: a projection of the account."""

from typing import Any

from headstart.dialects.written import by_class
from headstart.ledger.account import Account

CLASSES = ("5m", "1h")


def render_usage(account: Account) -> dict[str, Any]:
    """The `usage` object. `input_tokens` excludes what was read and written (rule A10)."""
    written = by_class(account.written, CLASSES)
    return {
        "input_tokens": account.fresh,
        "cache_creation_input_tokens": sum(written.values()),
        "cache_read_input_tokens": account.read,
        "cache_creation": {
            f"ephemeral_{name}_input_tokens": tokens for name, tokens in written.items()
        },
        "output_tokens": account.output,
        "service_tier": "standard",
    }


def render_delta_usage(account: Account) -> dict[str, Any]:
    """The cumulative usage of `message_delta`, which has no split by lifetime."""
    return {
        "input_tokens": account.fresh,
        "cache_creation_input_tokens": sum(account.written.values()),
        "cache_read_input_tokens": account.read,
        "output_tokens": account.output,
    }
