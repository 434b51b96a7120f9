"""The `usage` of a response: a projection of the account."""

from typing import Any

from headstart.ledger.account import Account


def response_usage(account: Account) -> dict[str, Any]:
    """`input_tokens` includes what was cached and written (rule O9)."""
    written = account.written
    details: dict[str, Any] = {
        "cached_tokens": account.read,
        "cache_write_tokens": sum(written.values()),
    }
    if written:
        details["cache_write_tokens_details"] = {
            "ttl_30m_tokens": written.get("30m", 0),
            "ttl_12h_tokens": written.get("12h", 0),
        }
    return {
        "input_tokens": account.prompt,
        "input_tokens_details": details,
        "output_tokens": account.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": account.prompt + account.output,
    }
