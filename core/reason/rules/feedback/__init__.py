"""Feedback's judgements without a model."""
