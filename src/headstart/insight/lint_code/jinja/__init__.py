"""Prompt templates in Jinja."""
