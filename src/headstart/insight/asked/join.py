"""Answers that lie in another file than their requests, put together by their ids."""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from headstart.insight.asked.asked import Asked


class Answers:
    """Heard first. An id that came several times answers the requests in the same order."""

    def __init__(self) -> None:
        self._held: dict[str, deque[Asked]] = {}

    def add(self, answer: Asked) -> None:
        """One more."""
        self._held.setdefault(answer.id, deque()).append(answer)

    def join(self, asked: Asked) -> Asked:
        """A request with its answer, where it has none of its own and one is known."""
        waiting = self._held.get(asked.id)
        if asked.account is not None or not waiting:
            return asked
        answer = waiting.popleft()
        return replace(
            asked, model=asked.model or answer.model, account=answer.account, tier=answer.tier
        )

    def left(self) -> Iterator[Asked]:
        """Those whose requests nobody has."""
        for waiting in self._held.values():
            yield from waiting
