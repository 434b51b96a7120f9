"""Each vendor's cache rules as pure functions of (blocks, marks, entries, now)."""
