"""A layout as each vendor's body."""
