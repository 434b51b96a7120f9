"""`headstart lint`: what keeps prompts from being read from a cache, seen in their bodies alone."""
