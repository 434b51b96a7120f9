"""The response object, in all its states."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headstart.dialects.dialect import Head
from headstart.dialects.errors import ApiError
from headstart.dialects.openai.cache_options import LIFETIMES, MODES
from headstart.dialects.openai.prompt_settings import TIER
from headstart.dialects.openai.responses.output import Output
from headstart.dialects.openai.responses.usage import response_usage
from headstart.ledger.account import Account

Diagnose = Callable[[Account], dict[str, Any] | None]
"""`prompt_cache_diagnostics`, if they were asked for."""
Keep = Callable[[Mapping[str, Any]], None]
"""Called with a response that is whole, before anybody is sent it."""


@dataclass(frozen=True, slots=True)
class Story:
    """What a response tells besides its output."""

    head: Head
    echo: Mapping[str, Any]
    diagnose: Diagnose
    keep: Keep
    now: Callable[[], float]
    """In seconds since the epoch."""

    def begun(self) -> dict[str, Any]:
        """Nothing is there yet, and no usage."""
        return self._body("in_progress", [])

    def ended(self, output: Output, account: Account) -> dict[str, Any]:
        """All is there; it may be cut off by the limit. It is kept from now on."""
        told: dict[str, Any] = {
            "usage": response_usage(account),
            "prompt_cache_diagnostics": self.diagnose(account),
        }
        if output.status == "completed":
            told["completed_at"] = int(self.now())
        else:
            told["incomplete_details"] = {"reason": "max_output_tokens"}
        body = self._body(output.status, output.items) | told
        self.keep(body)
        return body

    def failed(self, output: Output, error: ApiError) -> dict[str, Any]:
        """Something went wrong underway."""
        told = {"code": "server_error", "message": error.message}
        return self._body("failed", output.items) | {"error": told}

    def _applied(self) -> dict[str, str] | None:
        """What applies where the request says nothing; other models have no such options."""
        applies = self.head.contract == "openai_breakpoints"
        return {"mode": MODES[0], "ttl": LIFETIMES[0]} if applies else None

    def _body(self, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.head.id,
            "object": "response",
            "created_at": int(self.head.created),
            "status": status,
            "background": False,
            "completed_at": None,
            "error": None,
            "incomplete_details": None,
            "model": self.head.asked.model,
            "output": list(output),
            "prompt_cache_options": self._applied(),
            "prompt_cache_diagnostics": None,
            "service_tier": TIER,
            "usage": None,
            **self.echo,
        }
