"""OpenAI's Responses: items in, items out, and answers that later requests go on from."""
