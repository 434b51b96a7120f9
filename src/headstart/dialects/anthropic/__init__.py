"""Anthropic's Messages API: bodies and streams."""
