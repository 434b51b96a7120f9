"""OpenAI's `usage`: a projection of the account."""

from collections.abc import Callable
from typing import Any

from headstart.ledger.account import Account

RenderUsage = Callable[[Account], dict[str, Any]]


def render_usage(account: Account) -> dict[str, Any]:
    """The `usage` object of a completion. `prompt_tokens` includes what was cached and written.

    Cached and written tokens are always told, also as 0 (rules O9, O20: a model that bills no
    writes may leave them out). A text model without reasoning has none of the other kinds.
    """
    details = {
        "cached_tokens": account.read,
        "cache_write_tokens": sum(account.written.values()),
        "audio_tokens": 0,
    }
    return {
        "prompt_tokens": account.prompt,
        "completion_tokens": account.output,
        "total_tokens": account.prompt + account.output,
        "prompt_tokens_details": details,
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def render_hits_and_misses(account: Account) -> dict[str, Any]:
    """DeepSeek's `usage`: hit + miss = prompt, and nothing is billed as written (rule D2)."""
    usage = render_usage(account)
    del usage["prompt_tokens_details"]["cache_write_tokens"]
    return {
        **usage,
        "prompt_cache_hit_tokens": account.read,
        "prompt_cache_miss_tokens": account.prompt - account.read,
    }
