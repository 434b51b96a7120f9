"""Python sources."""
