"""What keeps a plan from being made."""


class PlanError(ValueError):
    """Something given can't be used. `str()` is one line for people."""
