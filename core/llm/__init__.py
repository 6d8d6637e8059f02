"""Language models: any OpenAI-compatible endpoint, asked for structured replies, with retries, budget, cache, record."""
