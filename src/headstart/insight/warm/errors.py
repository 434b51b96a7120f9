"""What keeps anything from being warmed."""


class WarmError(ValueError):
    """A plan that can't be carried out; `str()` is one line for people."""


class NoPrice(Exception):
    """What calls cost is unknown, so nobody can say when they have cost too much."""


class CallFailed(Exception):
    """A call without an answer. `str()` is for people."""

    def __init__(self, message: str, *, again: bool, after: float | None = None) -> None:
        """`again`: the same call may succeed, `after` seconds if the endpoint told."""
        super().__init__(message)
        self.again = again
        self.after = after


class Gone(Exception):
    """What was to be kept isn't there any more, and this call can't bring it back."""
