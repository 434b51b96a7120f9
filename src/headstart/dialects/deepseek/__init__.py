"""DeepSeek's wire format: OpenAI's chat completions with its own account and errors."""
