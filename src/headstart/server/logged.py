"""One line of the request log: what was asked, what it became, and what was reused of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from headstart.engine.api import GenerateRequest
from headstart.ledger import Account, Row

VERSION = 1
BEGIN = b'{"request_log":%d,' % VERSION
"""Of every line, so that a log is known as one."""
TOKEN_BYTES = 4

Told = Callable[[Account], Mapping[str, Any]]
"""The part of a dialect's answer that tells an account, such as `{"usage": {…}}`."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it came, and what it takes to tell of its answer."""

    path: str
    """Without the query, which may hold a key."""
    body: bytes
    """JSON, as the dialect has found."""
    told: Told
    shows_call: Callable[[Sequence[int]], bool]
    """Whether an answer holds what begins a tool call."""


@dataclass(frozen=True, slots=True)
class Logged:
    """One prompt of a request that has ended."""

    request: str
    time: float
    """When it came, in Unix seconds."""
    part: int
    """Which of its request's prompts, from 0; what tells of the whole request is on line 0."""
    generate: GenerateRequest
    cached: int
    """Prompt tokens whose prefill was skipped."""
    output: Sequence[int]
    """Of the first choice."""
    ended: str
    """Why the first choice did, in the engine's words."""
    sent: Sent
    row: Row | None = None
    """Of the whole request; None where none is kept, as of one that only warms the cache."""

    def line(self) -> bytes:
        """JSON on one line. The body's bytes are those that came, but for breaks between them."""
        asked = self.generate
        fields = {
            "request_log": VERSION,
            "time": self.time,
            "id": self.request,
            "part": self.part,
            "tenant": asked.tenant,
            "salt": asked.salt,
            "adapter": asked.adapter,
            "session": asked.hints.session,
            "ended": asked.hints.ended,
            "expected_gap": asked.hints.expected_gap,
            "tokens": list(asked.prompt),
            "output": self.output,
            "stop": self._stop(),
            "cached": self.cached,
        }
        if not self.part:
            body = self.sent.body.replace(b"\n", b" ").replace(b"\r", b" ")
            fields |= {"url": self.sent.path, "body": msgspec.Raw(body)}
            if self.row is not None:
                fields |= _of_row(self.row, self.sent.told)
        return msgspec.json.encode(fields)

    @property
    def size(self) -> int:
        """Bytes that it holds on to, roughly."""
        tokens = len(self.generate.prompt) + len(self.output)
        return len(self.sent.body) + TOKEN_BYTES * tokens

    def _stop(self) -> str:
        """As eviction heard of it: a call is told from other answers."""
        calls = self.generate.hints.tools and self.ended == "stop"
        return "tool_calls" if calls and self.sent.shows_call(self.output) else self.ended


def _of_row(row: Row, told: Told) -> dict[str, Any]:
    account = row.account
    return {
        "key": row.key,
        "model": row.model,
        "contract": row.contract,
        "dialect": row.dialect,
        "account": {
            "prompt": account.prompt,
            "fresh": account.fresh,
            "read": account.read,
            "written": account.written,
            "output": account.output,
        },
        "ttft": row.ttft,
        "reason": row.reason,
        "reusable_ever": row.reusable_ever,
        "response": told(account),
    }
