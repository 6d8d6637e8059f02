"""Feedback's judgements by a model."""
