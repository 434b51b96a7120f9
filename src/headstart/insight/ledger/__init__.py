"""`headstart ledger`: what was served, what of it was read from the cache, and what that saved."""
