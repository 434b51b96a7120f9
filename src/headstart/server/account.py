"""What is told of a request's reuse: report, log line, metrics, header."""

import logging
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from headstart.engine.api import GenerateRequest, Reuse
from headstart.server.metrics import Metrics
from headstart.server.reports import Report, Reports
from headstart.text.chat import Conversation

log = logging.getLogger("headstart.reuse")

CACHE_HEADER = "x-headstart-cache"


@dataclass(slots=True)
class Account:
    """The prompts of one HTTP request; each is opened when its first token is there."""

    requests: Sequence[GenerateRequest]
    reports: Reports
    metrics: Metrics
    conversation: Conversation | None = None
    _opened: dict[int, Reuse] = field(default_factory=dict)

    def open(self, index: int, reuse: Reuse) -> None:
        """The account of prompt `index` is settled."""
        request, reason = self.requests[index], _reason(reuse)
        self._opened[index] = reuse
        # Only what a report needs: tools and calls of any size would outlive their request.
        asked = self.conversation
        contents = None if asked is None else tuple(each.content or "" for each in asked.messages)
        prompt = array("I", request.prompt)
        self.reports.add(Report(request.id, request.tenant, reuse, prompt, contents))
        self.metrics.missed_tokens.labels(reason).inc(reuse.prompt_tokens - reuse.cached_tokens)
        self.metrics.prompts.labels(reason).inc()
        log.info(
            "%s hit=%d of %d; reason=%s",
            request.id,
            reuse.cached_tokens,
            reuse.prompt_tokens,
            reason,
        )

    def headers(self) -> dict[str, str]:
        """What is settled by now: tokens reused over all prompts, and the first one's reason."""
        if not self._opened:
            return {}
        hit = sum(reuse.cached_tokens for reuse in self._opened.values())
        return {CACHE_HEADER: f"hit={hit}; reason={_reason(self._opened[min(self._opened)])}"}


def _reason(reuse: Reuse) -> str:
    assert reuse.miss is not None, "an account is opened when it is settled"
    return reuse.miss.reason.value
