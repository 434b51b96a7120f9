"""`usageMetadata`: a projection of the account."""

from typing import Any

from headstart.ledger.account import Account


def render_usage(account: Account) -> dict[str, Any]:
    """`promptTokenCount` includes what was cached; a miss has no word of the cache (rule G1)."""
    usage: dict[str, Any] = {
        "promptTokenCount": account.prompt,
        "candidatesTokenCount": account.output,
        "totalTokenCount": account.prompt + account.output,
        "promptTokensDetails": as_text(account.prompt),
    }
    if account.read:
        usage["cachedContentTokenCount"] = account.read
        usage["cacheTokensDetails"] = as_text(account.read)
    return usage


def as_text(tokens: int) -> list[dict[str, Any]]:
    """All of them are text."""
    return [{"modality": "TEXT", "tokenCount": tokens}]
