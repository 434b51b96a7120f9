"""`headstart report`: what requests read from the cache, what that cost, and what to change."""
