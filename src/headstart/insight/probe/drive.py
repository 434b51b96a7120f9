"""Runs a script against an endpoint: asks, waits, pays, and stops it at the budget."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from headstart.insight.probe.cost import Purse
from headstart.insight.probe.endpoint import Clock
from headstart.insight.probe.script import Call, Reply, Script, Spent, Wait

T = TypeVar("T")


class Watcher(Protocol):
    """Who looks on while it runs."""

    def say(self, text: str) -> None:
        """Something begins."""
        ...

    def tell(self, text: str) -> None:
        """Something that has to be read."""
        ...

    def expect(self, requests: int) -> None:
        """So many requests are coming."""
        ...

    def advance(self, text: str) -> None:
        """One of them has ended."""
        ...


def drive(
    script: Script[T],
    ask: Callable[[Call], Reply],
    clock: Clock,
    purse: Purse,
    watcher: Watcher,
    *,
    pause: float = 0.0,
) -> T:
    """What the script returns. `pause`: seconds before each request. Raises EndpointError."""
    try:
        step = next(script)
        while True:
            if isinstance(step, Wait):
                watcher.say(f"waiting {max(0.0, step.until - clock.now()):.0f} s")
                clock.sleep(max(0.0, step.until - clock.now()))
                step = script.send(None)
            elif not purse.has_room:
                step = script.throw(Spent())
            else:
                clock.sleep(pause)
                reply = ask(step)
                purse.pay(reply.usage)
                watcher.advance(step.purpose)
                step = script.send(reply)
    except StopIteration as ended:
        result: T = ended.value
        return result
