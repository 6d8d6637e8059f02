"""MindSchema's judgements by a language model; what it says is checked against what it was offered."""
