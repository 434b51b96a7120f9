"""Gemini's wire format: generateContent, countTokens, cachedContents, models, errors."""
