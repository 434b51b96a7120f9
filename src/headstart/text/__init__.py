"""Text: tokenizers, chat templates, streaming detokenisation, tool-call formats.

Knows no cache and no HTTP. Others use `codec`, `chat`, `tools`, `stops` and `errors`.
"""
