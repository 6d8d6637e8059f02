"""Dreaming by rules: topics, cardinality, conflicts, paraphrases, and what to do about them."""
