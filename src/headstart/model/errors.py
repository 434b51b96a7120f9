"""What is refused before anything is served."""


class ModelError(Exception):
    """A model or adapter that cannot be served. `str()` names the cause and the way out."""
