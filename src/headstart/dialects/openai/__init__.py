"""OpenAI's wire format: chat completions, text completions, models, errors."""
