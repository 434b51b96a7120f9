"""The engine: requests in, tokens out, with continuous batching over the prefix cache."""
