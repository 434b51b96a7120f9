"""Recordings: one reader per kind, told by their first objects."""
