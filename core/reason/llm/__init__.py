"""The llm family of judgements: prompts to a language model, and its replies checked against what was offered."""
