"""What every vendor's rules are reduced to."""

from collections.abc import Sequence
from typing import Protocol

from headstart.contracts.entries import Entries
from headstart.contracts.plan import Plan
from headstart.contracts.prompt import Prompt


class Refusal(Exception):
    """Marks or wishes that the vendor turns away. `str()` is the vendor's text."""

    def __init__(
        self, message: str, *, path: str | None = None, code: str | None = None, status: int = 400
    ) -> None:
        super().__init__(message)
        self.path = path
        """Of the field at fault, as the vendor spells it."""
        self.code = code
        """The vendor's word for the kind of error, where it has one beside the status."""
        self.status = status
        """Of the HTTP answer."""


class Contract(Protocol):
    """One vendor's cache rules for one model: pure functions, without state of their own."""

    def plan(self, prompt: Prompt, entries: Entries, now: float) -> Plan:
        """What the request may read and will write. Changes nothing. Raises Refusal.

        `now`: when the request began, in seconds.
        """
        ...

    def finish(
        self,
        prompt: Prompt,  # noqa: ARG002
        plan: Plan,  # noqa: ARG002
        output: Sequence[int],  # noqa: ARG002
        entries: Entries,  # noqa: ARG002
        now: float,  # noqa: ARG002
    ) -> None:
        """The answer is whole: some vendors write it too. `output`: its token ids."""
        return
