"""The state machine of one prompt: when its next call is due, and when there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from headstart.insight.plan.money import Offer
from headstart.insight.warm.choices import Choice, choices
from headstart.insight.warm.dialects.dialect import Call, Dialect, Heard, Target
from headstart.insight.warm.errors import CallFailed, Gone
from headstart.insight.warm.stakes import Expected, Outlook, cost, outlook, stakes
from headstart.ledger import Account

End = Literal[
    "break-even",
    "done",
    "needless",
    "too dear",
    "over budget",
    "nothing cached",
    "not told",
    "gone",
    "refused",
    "unreachable",
    "interrupted",
]
"""`done`: the last use is expected to be over, or the time that was asked for is."""
FINE: frozenset[End] = frozenset({"break-even", "done", "interrupted"})
RETRY_SECONDS = 1.0
MOST_RETRIES = 8
"""Of one call, each after twice the time."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One call and what its answer told."""

    at: float
    account: Account
    found: int | None
    cost: Decimal


@dataclass(slots=True)
class Warming:
    """One prompt. Until it has `ended`: at `due` send `call`, and tell what came of it."""

    name: str
    dialect: Dialect
    target: Target
    offer: Offer
    expected: Expected
    prefix: int
    """Tokens that are kept: an estimate until an answer tells."""
    begin: float
    limit: float | None = None
    """Seconds after which nothing more is sent."""
    rest: int = 0
    due: float = field(init=False)
    ended: End | None = field(init=False, default=None)
    measured: bool = field(init=False, default=False)
    """`prefix` is."""
    sent: list[Sent] = field(init=False, default_factory=list)
    findings: list[str] = field(init=False, default_factory=list)
    spent: Decimal = field(init=False, default=Decimal(0))
    outlook: Outlook = field(init=False)
    _last: Heard | None = field(init=False, default=None)
    _alive: float = field(init=False, default=0.0)
    _tries: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        """Raises NoPrice. It may have ended before it began."""
        self.due = self.begin
        self._look_ahead()
        match self.outlook.verdict:
            case "needless":
                gap = max(self.expected.gaps)
                self._end("needless", f"uses at most {gap:g} s apart keep it by themselves")
            case "too dear":
                self._end("too dear", "its uses save less than the calls until then cost")

    @property
    def call(self) -> Call:
        """The next one."""
        return self.dialect.call(self.target, self._last)

    @property
    def next_cost(self) -> Decimal:
        """What it is expected to cost."""
        return self.outlook.stakes.again if self.sent else self.outlook.stakes.first

    @property
    def next_tokens(self) -> int:
        """Tokens of its prompt and answer."""
        first, again = self.dialect.bills(self.target, self.prefix, self.rest)
        bill = again if self.sent else first
        return bill.prompt + bill.output

    @property
    def choices(self) -> Sequence[Choice]:
        """What other lifetimes would cost."""
        return choices(self.dialect, self.target, self.offer, self.expected, self.prefix, self.rest)

    @property
    def resource(self) -> str | None:
        """The name of what is kept, where the API gives it one."""
        return self.target.resource if self._last is None else self._last.resource

    def heard(self, answer: bytes, at: float) -> Heard:
        """The answer to the call that was sent `at`.

        Raises msgspec.MsgspecError, or ValueError for counters that contradict one another, and
        changes nothing then.
        A lifetime begins when its request does (rule A8).
        """
        heard = self.dialect.heard(answer, self.target, self._last, at)
        paid = cost(heard.account, self.offer)
        self.sent.append(Sent(at, heard.account, heard.found, paid))
        self.spent += paid
        self._tries = 0
        self._check(heard, at)
        self._last = heard
        self._alive = at + self.target.seconds if heard.expires is None else heard.expires
        self.due = self._alive - (self.target.seconds - self.target.interval)
        self._look_ahead()
        if self.ended is None:
            self._go_on()
        return heard

    def failed(self, error: CallFailed, at: float) -> None:
        """No answer came to the call that was sent `at`."""
        self._tries += 1
        if not error.again:
            self._end("refused", str(error))
        elif self._tries > MOST_RETRIES:
            self._end("unreachable", f"{error} ({self._tries} times)")
        else:
            wait = RETRY_SECONDS * 2 ** (self._tries - 1)
            self.due = at + max(wait, error.after or 0.0)

    def gone(self, error: Gone) -> None:
        """It can't be kept any more."""
        self._end("gone", str(error))

    def stop(self, end: End) -> None:
        """Nothing more is sent."""
        finding = None if end in FINE else f"{end} after {len(self.sent)} calls"
        self._end(end, finding)

    def _end(self, end: End, finding: str | None = None) -> None:
        self.ended = end
        if finding is not None:
            self.findings.append(finding)

    def _look_ahead(self) -> None:
        found = stakes(self.dialect, self.target, self.offer, self.prefix, self.rest)
        self.outlook = outlook(found, self.expected, self.target.seconds, self.target.interval)

    def _go_on(self) -> None:
        """Whether another call is needed, and pays."""
        span, limit = self.expected.span, self.limit
        ends = [self.begin + each for each in (span, limit) if each is not None]
        over = span is not None and self.begin + span <= self._alive
        if over or (ends and self.due > min(ends)):
            self._end("done")
        elif self.spent + self.outlook.stakes.again > self.outlook.value:
            self._end("break-even")

    def _check(self, heard: Heard, at: float) -> None:
        """What the counters prove."""
        account, last = heard.account, self._last
        if heard.found is None:
            self._end("not told", "the endpoint tells no cached tokens, so nothing is proved")
        elif heard.kept == 0 or (heard.kept is None and last is not None and not heard.found):
            self._end(
                "nothing cached",
                f"nothing of {account.prompt:,} prompt tokens was cached"
                f" (the minimum is {self.target.profile.minimum:,})",
            )
        elif last is not None and self.measured and heard.found < self.prefix:
            self.findings.append(
                f"{self.prefix - heard.found:,} of {self.prefix:,} tokens were gone"
                f" {at - self.sent[-2].at:g} s after the call before"
            )
        self._measure(heard)

    def _measure(self, heard: Heard) -> None:
        """Where a first call's counters don't tell, its prompt's whole units are what may be kept:
        what it found may be another prompt's beginning, and the second call proves it."""
        tokens, prompt = heard.kept, heard.account.prompt
        if tokens is None and self._last is not None:
            tokens = heard.found
        self.measured = self.measured or bool(tokens)
        if not self.measured:
            tokens = prompt - prompt % self.target.profile.unit
        if tokens:
            self.prefix, self.rest = tokens, max(0, prompt - tokens)
