"""Tools that look at endpoints, traces and text from the outside. No torch, no engine."""
