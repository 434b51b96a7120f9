"""One file per model family's way of writing tool calls."""
