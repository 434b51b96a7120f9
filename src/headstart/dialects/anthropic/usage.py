"""Anthropic's `usage`: a projection of the account."""

from typing import Any

from headstart.ledger.account import Account

LONG = "1h"


def render_usage(account: Account) -> dict[str, Any]:
    """The `usage` object. `input_tokens` excludes what was read and written (rule A10)."""
    written = sum(account.written.values())
    long = account.written.get(LONG, 0)
    return {
        "input_tokens": account.fresh,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": account.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": written - long,
            "ephemeral_1h_input_tokens": long,
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
