"""The `usage` of a response: a projection of the account."""

from typing import Any

from headstart.dialects.openai.cache_options import LIFETIMES
from headstart.dialects.written import by_class
from headstart.ledger.account import Account


def response_usage(account: Account) -> dict[str, Any]:
    """`input_tokens` includes what was cached and written (rule O9)."""
    details: dict[str, Any] = {
        "cached_tokens": account.read,
        "cache_write_tokens": sum(account.written.values()),
    }
    if account.written:
        written = by_class(account.written, LIFETIMES)
        details["cache_write_tokens_details"] = {
            f"ttl_{name}_tokens": tokens for name, tokens in written.items()
        }
    return {
        "input_tokens": account.prompt,
        "input_tokens_details": details,
        "output_tokens": account.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": account.prompt + account.output,
    }
