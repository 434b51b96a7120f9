"""The ASGI application: wiring, auth, limits, metrics."""
