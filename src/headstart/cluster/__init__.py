"""Many replicas as one: telling others what this one's cache holds. Knows no torch."""
