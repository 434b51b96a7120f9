"""What can't be read."""


class Unreadable(ValueError):
    """Input that is no request, or broken. `str()` is one line that names the place."""
