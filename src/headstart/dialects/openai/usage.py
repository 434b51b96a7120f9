"""OpenAI's `usage`: a projection of the account."""

from typing import Any

from headstart.ledger.account import Account


def render_usage(account: Account) -> dict[str, Any]:
    """The `usage` object of a completion. `prompt_tokens` includes what was cached and written.

    `cached_tokens` is always there, also as 0; `cache_write_tokens` under contracts that bill
    writes (rules O9, O20).
    """
    details = {"cached_tokens": account.read}
    if account.written:
        details["cache_write_tokens"] = sum(account.written.values())
    return {
        "prompt_tokens": account.prompt,
        "completion_tokens": account.output,
        "total_tokens": account.prompt + account.output,
        "prompt_tokens_details": details,
    }
