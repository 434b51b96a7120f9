"""From a body to its pieces, settings, wishes and partition: one file per format."""
