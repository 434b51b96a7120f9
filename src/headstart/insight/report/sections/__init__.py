"""The four parts of a report."""
