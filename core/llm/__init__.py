"""Language models: any OpenAI-compatible endpoint, for structured replies, with retries, budget, cache and record."""
