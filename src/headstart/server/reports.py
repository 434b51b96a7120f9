"""The reuse reports of the last requests, for whoever asks why."""

from array import array
from collections import OrderedDict
from dataclasses import dataclass
from sys import getsizeof

from headstart.engine.api import Reuse

BUDGET_BYTES = 64 * 1024 * 1024
BESIDES_BYTES = 1024
"""Of a report, all but prompt and texts."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one prompt reused, and what is needed to say where it stopped."""

    id: str
    tenant: str
    reuse: Reuse
    prompt: "array[int]"
    contents: tuple[str, ...] | None
    """What each message says; None where there are no messages."""

    @property
    def size(self) -> int:
        """Bytes it takes, roughly."""
        texts = sum(map(getsizeof, self.contents or ()))
        return BESIDES_BYTES + getsizeof(self.prompt) + texts


class Reports:
    """The last reports, within a budget of bytes."""

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._budget = budget
        self._size = 0
        self._reports: OrderedDict[str, Report] = OrderedDict()

    def add(self, report: Report) -> None:
        """Keep a report; the oldest make room."""
        self._reports[report.id] = report
        self._size += report.size
        while self._size > self._budget and self._reports:
            _, oldest = self._reports.popitem(last=False)
            self._size -= oldest.size

    def get(self, request_id: str) -> Report | None:
        """The report of a request, if it is still here."""
        return self._reports.get(request_id)
