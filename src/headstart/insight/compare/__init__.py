"""Where a request leaves an earlier one, and why: on text and its places, before any token."""
