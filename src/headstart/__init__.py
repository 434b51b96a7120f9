"""headstart: an LLM inference server whose heart is the prefix cache."""

__version__ = "0.1.0"
