"""What can't be read."""

from headstart.insight.lines import placed


class Unreadable(ValueError):
    """Input that is no request, or broken. `str()` is one line that names the place."""

    def __init__(self, reason: str, file: str = "", line: int | None = None) -> None:
        """`file`: as messages call it; empty where it is known further up, or is none. `line`: or
        the place in a list, from 1."""
        super().__init__(placed(reason, file, line))
        self.reason = reason
        self.file = file
        self.line = line
