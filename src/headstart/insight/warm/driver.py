"""Carries warmings out: waits, sends what is due, and tells each what came of it."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal

import msgspec

from headstart.insight.warm.dialects.dialect import Call, Heard
from headstart.insight.warm.errors import CallFailed, Gone
from headstart.insight.warm.warming import Warming

AT_ONCE = 8
"""Calls that are under way together."""

Send = Callable[[Call], bytes]
"""The answer to a call. Raises CallFailed and Gone."""
Tell = Callable[[Warming, float, Heard | Exception], None]
"""Hears of each call: whose, when, and what came of it."""


@dataclass(slots=True)
class Purse:
    """What may be spent on all prompts together; None is no limit."""

    dollars: Decimal | None = None
    tokens: int | None = None

    def covers(self, warmings: Sequence[Warming], coming: Sequence[Warming]) -> bool:
        """Whether the next calls of `coming` still fit."""
        spent = sum((each.spent for each in warmings), Decimal(0))
        tokens = sum(sent.account.prompt + sent.account.output for w in warmings for sent in w.sent)
        spent += sum((each.next_cost for each in coming), Decimal(0))
        tokens += sum(each.next_tokens for each in coming)
        fits = self.dollars is None or spent <= self.dollars
        return fits and (self.tokens is None or tokens <= self.tokens)


def drive(
    warmings: Sequence[Warming],
    send: Send,
    purse: Purse,
    *,
    now: Callable[[], float],
    sleep: Callable[[float], None],
    tell: Tell,
) -> None:
    """Until all have ended. KeyboardInterrupt ends those that haven't, and is no error."""
    with ThreadPoolExecutor(AT_ONCE, "headstart-warm") as pool:
        try:
            while alive := [each for each in warmings if each.ended is None]:
                wait = min(each.due for each in alive) - now()
                if wait > 0:
                    sleep(wait)
                moment = now()
                due = _affordable([w for w in alive if w.due <= moment], warmings, purse)
                at = now()
                answers = pool.map(lambda call: _sent(send, call), [each.call for each in due])
                for warming, answer in zip(due, answers, strict=True):
                    tell(warming, at, _take(warming, answer, at))
        except KeyboardInterrupt:
            for each in warmings:
                if each.ended is None:
                    each.stop("interrupted")


def _affordable(due: list[Warming], warmings: Sequence[Warming], purse: Purse) -> list[Warming]:
    """Those whose calls the purse covers, in their order; the others end."""
    taken: list[Warming] = []
    for each in due:
        if purse.covers(warmings, [*taken, each]):
            taken.append(each)
        else:
            each.stop("over budget")
    return taken


def _sent(send: Send, call: Call) -> bytes | CallFailed | Gone:
    try:
        return send(call)
    except (CallFailed, Gone) as error:
        return error


def _take(warming: Warming, answer: bytes | CallFailed | Gone, at: float) -> Heard | Exception:
    match answer:
        case bytes():
            try:
                return warming.heard(answer, at)
            except (msgspec.MsgspecError, ValueError) as error:  # Counters may contradict.
                told = answer[:200].decode(errors="replace")
                failed = CallFailed(f"an answer without counters ({error}): {told}", again=False)
                warming.failed(failed, at)
                return failed
        case Gone():
            warming.gone(answer)
        case CallFailed():
            warming.failed(answer, at)
    return answer
