"""Search: from a question to hits with their evidence, and to text for a prompt."""
